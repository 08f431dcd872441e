import { BrowserDecoder } from './browser-decode.js';
import type { Decoding } from './decoding.js';
import type { Column, Description, Engine, Limits, Output, Program, Trace } from './engine.js';
import { InferPrepError } from './errors.js';
import { attached, read, type Portable } from './inputs.js';
import { Instance, type RawInput, type RawTensor } from './instance.js';
import { copied, type TensorType } from './tensor.js';

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

const described = (t: RawTensor): Description => ({ name: t.name, type: t.dtype as TensorType, layout: t.layout, dims: t.dims });

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
      ...described(t),
      input: t.step === 0,
      stacked: t.step >> 2 < 2, // 2 and 3 are datagraph's rules concat and single
    }));
    p.takesPixels = p.columns.filter((c) => c.input).map((_, n) => i.takesPixels(p.handle, n));
    return p;
  }

  async decoding(): Promise<Decoding> {
    return this.decoder?.decoding() ?? { decode: 'own', reason: "init was called without decode: 'browser'", kinds: {} };
  }

  async sizes(p: Local, height: number, width: number): Promise<Description[]> {
    return this.use(p, [], undefined, (i) => i.sizes(p.handle, height, width).map(described));
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
