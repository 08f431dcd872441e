import { BrowserDecoder, type Decoding } from './browser-decode.js';
import { InferPrepError } from './errors.js';
import { attached, read, type Portable } from './inputs.js';
import { Instance, type RawInput, type RawTensor } from './instance.js';
import { copied, type Tensor, type TensorType } from './tensor.js';

/** Limits bound the cost of one run. Exceeding one is an error of code `limit`. */
export interface Limits {
  /** Pixels of an image as stored. Default 100,000,000. */
  pixels?: number;
  /** Bytes of memory for the pixels, a decoder's buffers and the tensors, at most 4 GiB. Default 1 GiB. */
  bytes?: number;
  /** Bytes of an input, checked before it is read. Default 256 MiB. */
  input?: number;
}

/** checked returns limits with their defaults. */
export function checked(limits: Limits = {}): Required<Limits> {
  const all = { pixels: 100e6, bytes: 2 ** 30, input: 2 ** 28 };
  for (const [name, v] of Object.entries(limits) as [keyof Limits, number | undefined][]) {
    if (v === undefined) continue;
    if (!(name in all)) throw new InferPrepError('param', `infer-prep: init: unknown limit "${name}": want ${Object.keys(all).join(', ')}`);
    if (!Number.isSafeInteger(v) || v < 1) throw new InferPrepError('param', `infer-prep: init: limits.${name} is ${v}: must be a whole number from 1`);
    if (name === 'bytes' && v > 2 ** 32) throw new InferPrepError('param', `infer-prep: init: limits.bytes is ${v}: must be at most 4 GiB, the largest memory of a module`);
    all[name] = v;
  }
  return all;
}

/** Description describes an input or output of a graph. */
export interface Description {
  name: string;
  type: TensorType;
  layout: Tensor['layout'];
  /** The sizes without a batch's axis; -1 if they depend on the image. */
  dims: number[];
}

/** Column is a description, and what it is of. */
export interface Column extends Description {
  input: boolean;
  /** Whether batches stack it along a new axis; otherwise they concatenate it. */
  stacked: boolean;
}

/** Output is a tensor with its name. */
export interface Output extends Tensor { name: string }

/** Trace is an output of a step of a graph. */
export interface Trace extends Tensor {
  /** The index of the step, from 0. */
  step: number;
  /** The op of the step. */
  op: string;
}

/** Program is an open graph of an {@link Engine}. */
export interface Program {
  readonly columns: Column[];
}

/**
 * Engine runs graphs. Runs return tensors without a batch's axis, which belong
 * to the caller.
 */
export interface Engine<P extends Program = Program> {
  readonly limits: Required<Limits>;
  /** The bytes of all modules' memory. */
  readonly memoryBytes: number;
  open(graph: Uint8Array): Promise<P>;
  run(p: P, inputs: Portable[], signal?: AbortSignal): Promise<Output[]>;
  trace(p: P, inputs: Portable[], signal?: AbortSignal): Promise<Trace[]>;
  /** decoding says who decodes JPEG files, by a proof that the first call makes. */
  decoding(): Promise<Decoding>;
  close(p: P): void;
  dispose(): void;
}

/** Local is an open graph of a {@link Machine}. */
export interface Local extends Program {
  readonly graph: Uint8Array;
  columns: Column[];
  /** Whether each input takes pixels in place of a file. */
  takesPixels: boolean[];
  /** Its handle, and the instance that has it. */
  handle: number;
  owner: Instance | undefined;
  closed: boolean;
}

/**
 * Machine is an engine of one instance, on the calling thread. If the instance
 * ends, because Go ran out of memory for example, the next call runs on a new
 * one.
 */
export class Machine implements Engine<Local> {
  private instance: Promise<Instance> | undefined;
  private current: Instance | undefined;

  private readonly decoder: BrowserDecoder | undefined;

  private constructor(private readonly module: WebAssembly.Module, readonly limits: Required<Limits>, decode: Decoding['decode']) {
    this.instance = Instance.create(module);
    if (decode === 'browser') this.decoder = new BrowserDecoder(() => this.ready(), limits);
  }

  static async create(module: WebAssembly.Module, limits: Required<Limits>, decode: Decoding['decode'] = 'own'): Promise<Machine> {
    const m = new Machine(module, limits, decode);
    await m.ready();
    return m;
  }

  get memoryBytes(): number { return this.current?.memoryBytes ?? 0; }

  async open(graph: Uint8Array): Promise<Local> {
    const p: Local = { graph: graph.slice(), columns: [], takesPixels: [], handle: 0, owner: undefined, closed: false };
    const i = await this.ready();
    this.attach(p, i);
    p.columns = i.describe(p.handle).map((t) => ({
      name: t.name, type: t.dtype as TensorType, layout: t.layout, dims: t.dims,
      input: t.step === 0,
      stacked: t.step >> 2 !== 2, // 2 is datagraph's rule concat
    }));
    p.takesPixels = p.columns.filter((c) => c.input).map((_, n) => i.takesPixels(p.handle, n));
    return p;
  }

  async decoding(): Promise<Decoding> {
    return this.decoder?.decoding() ?? { decode: 'own', reason: "init was called without decode: 'browser'", kinds: {} };
  }

  async run(p: Local, inputs: Portable[], signal?: AbortSignal): Promise<Output[]> {
    return this.use(p, inputs, signal, (i, raw) => i.run(p.handle, raw).map((t) => ({ name: t.name, ...copied(t) })));
  }

  async trace(p: Local, inputs: Portable[], signal?: AbortSignal): Promise<Trace[]> {
    return this.use(p, inputs, signal, (i, raw) => i.trace(p.handle, raw).map((t) => ({ step: t.step, op: t.name, ...copied(t) })));
  }

  close(p: Local): void {
    p.closed = true;
    p.owner?.close(p.handle);
    p.owner = undefined;
  }

  dispose(): void { this.instance = this.current = undefined; } // the collector frees its memory

  /** ready returns an instance that is alive. */
  private async ready(): Promise<Instance> {
    for (;;) {
      const created = this.instance;
      if (created === undefined) throw new InferPrepError('disposed', 'infer-prep: it was disposed of');
      const i = await created;
      if (this.instance !== created) continue; // another caller replaced it, or it was disposed of
      if (i.alive) return this.current = i;
      const next = Instance.create(this.module);
      next.catch(() => { if (this.instance === next) this.instance = created; }); // the next call tries again
      this.instance = next;
    }
  }

  /** use calls f with an instance that has the program, and with the inputs as it takes them. */
  async use<T>(p: Local, inputs: Portable[], signal: AbortSignal | undefined, f: (i: Instance, raw: RawInput[]) => T): Promise<T> {
    const raw = await Promise.all(inputs.map(async (input, n) => {
      const r = await read(input, this.limits.input);
      return this.decoder && p.takesPixels[n] && !signal?.aborted ? this.decoder.replace(r) : r;
    }));
    const i = await this.ready();
    signal?.throwIfAborted();
    if (p.closed) throw new InferPrepError('disposed', 'infer-prep: the graph was disposed of');
    // The caller may have transferred a buffer in the meantime.
    raw.forEach((r) => { attached(r.bytes.buffer); });
    this.attach(p, i);
    return f(i, raw);
  }

  private attach(p: Local, i: Instance): void {
    if (p.owner === i) return;
    p.handle = i.open(p.graph, this.limits);
    p.owner = i;
  }
}

export type { RawTensor };
