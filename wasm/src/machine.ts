import { InferPrepError } from './errors.js';
import { Instance, type RawInput, type RawTensor } from './instance.js';

/** Limits bound the cost of one image. */
export interface Limits {
  /** Pixels of an image as stored. Default 100,000,000. */
  pixels?: number;
  /** Bytes of memory for the pixels, a decoder's buffers and the tensors. Default 1 GiB. */
  bytes?: number;
  /** Bytes of an input. Default 256 MiB. */
  input?: number;
}

/** checked returns limits with their defaults. */
export function checked(limits: Limits = {}): Required<Limits> {
  const all = { pixels: 100e6, bytes: 2 ** 30, input: 2 ** 28, ...limits };
  for (const [name, v] of Object.entries(all)) {
    if (!Number.isSafeInteger(v) || v < 1) throw new InferPrepError('param', `infer-prep: init: limits.${name} is ${v}: must be a whole number from 1`);
  }
  return all;
}

/** Program is a graph of a {@link Machine}. */
export interface Program {
  graph: Uint8Array;
  /** Its handle, and the instance that has it. */
  handle: number;
  owner: Instance | undefined;
}

/**
 * Machine runs graphs on an instance. If the instance ends, because Go ran out
 * of memory for example, the next call runs on a new one.
 */
export class Machine {
  private disposed = false;

  private constructor(private readonly module: WebAssembly.Module, readonly limits: Required<Limits>, private instance: Instance) {}

  static async create(module: WebAssembly.Module, limits: Required<Limits>): Promise<Machine> {
    return new Machine(module, limits, await Instance.create(module));
  }

  /** ready returns an instance that is alive. */
  async ready(): Promise<Instance> {
    if (this.disposed) throw new InferPrepError('disposed', 'infer-prep: it was disposed of');
    if (!this.instance.alive) this.instance = await Instance.create(this.module);
    return this.instance;
  }

  async open(graph: Uint8Array): Promise<Program> {
    const p: Program = { graph: graph.slice(), handle: 0, owner: undefined };
    this.attach(p, await this.ready());
    return p;
  }

  /** with runs f on an instance that has the program. */
  async with<T>(p: Program, f: (i: Instance, handle: number) => T): Promise<T> {
    const i = await this.ready();
    this.attach(p, i);
    return f(i, p.handle);
  }

  close(p: Program): void {
    if (p.owner === this.instance && p.handle !== 0) this.instance.close(p.handle);
    p.handle = 0;
  }

  dispose(): void {
    this.disposed = true;
    this.instance = undefined as unknown as Instance; // the collector frees its memory
  }

  get memoryBytes(): number { return this.disposed ? 0 : this.instance.memoryBytes; }

  private attach(p: Program, i: Instance): void {
    if (p.owner === i) return;
    p.handle = i.open(p.graph, this.limits);
    p.owner = i;
  }
}

export type { RawInput, RawTensor };
