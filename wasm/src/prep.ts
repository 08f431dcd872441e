import { compile, load } from '#load';
import { InferPrepError } from './errors.js';
import { read, tensorLike, type ImageInput, type Input } from './inputs.js';
import type { RawTensor } from './instance.js';
import { checked, Machine, type Limits, type Program } from './machine.js';
import { hasSIMD } from './simd.js';
import { copied, type Tensor, type TensorType } from './tensor.js';

/** The options of {@link init}. */
export interface InitOptions {
  /**
   * The WebAssembly file: its address, its bytes, a response or a compiled
   * module. Default: the package's own file, as `build` and `simd` say.
   */
  module?: string | URL | BufferSource | WebAssembly.Module | Response | PromiseLike<Response>;
  /**
   * `small` has the ops of inference, JPEG and PNG. `full` has every op and
   * image format, and reads graphs in JSON form. Default `small`.
   */
  build?: 'small' | 'full';
  /** Whether the file uses SIMD. Default: whether the engine has it. */
  simd?: boolean;
  /** The bounds of one run. */
  limits?: Limits;
}

/** init compiles the WebAssembly module and starts an instance of it. */
export async function init(options: InitOptions = {}): Promise<InferPrep> {
  const limits = checked(options.limits);
  return new InferPrep(await Machine.create(await moduleOf(options), limits));
}

/** moduleOf compiles the module that the options name. */
export async function moduleOf(options: InitOptions): Promise<WebAssembly.Module> {
  const { module: m, build = 'small' } = options;
  try {
    if (m === undefined) return await load(`infer-prep${build === 'full' ? '-full' : ''}${options.simd ?? hasSIMD() ? '-simd' : ''}`);
    if (m instanceof WebAssembly.Module) return m;
    if (typeof m === 'string' || m instanceof URL) return await compile(fetch(m));
    if (m instanceof ArrayBuffer || ArrayBuffer.isView(m)) return await WebAssembly.compile(m);
    return await compile(m);
  } catch (cause) {
    throw new InferPrepError('param', `infer-prep: init: the WebAssembly module cannot be loaded: ${String(cause)}`, { cause });
  }
}

/** The options of {@link Graph.run}. */
export interface RunOptions {
  /** Ends the run between its steps: reading the input, running. The promise rejects with its reason. */
  signal?: AbortSignal;
  /**
   * Adds a first axis of 1 to the outputs, as models take batches. Outputs that
   * the graph concatenates in a batch, and byte strings, get none. Default true.
   */
  batch?: boolean;
}

/** Result is the first output of a graph, and all of them by name. */
export interface Result extends Tensor {
  /** The outputs and side outputs. */
  outputs: Record<string, Tensor>;
}

/** Description describes an input or output of a graph. */
export interface Description {
  name: string;
  type: TensorType;
  layout: Tensor['layout'];
  /** The sizes without a batch's axis; -1 if they depend on the image. */
  dims: number[];
}

/**
 * InferPrep is a running module. {@link init} makes it.
 *
 * Runs happen on the calling thread, one at a time; a pool runs them in Workers.
 */
export class InferPrep {
  /** @internal */
  constructor(private readonly machine: Machine) {}

  /** graph opens a graph in msgpack form; the full build also reads JSON. */
  async graph(graph: Uint8Array | ArrayBuffer): Promise<Graph> {
    const program = await this.machine.open(graph instanceof Uint8Array ? graph : new Uint8Array(graph));
    return new Graph(this.machine, program, await this.machine.with(program, (i, h) => i.describe(h)));
  }

  /** The bytes of the module's memory. It grows to the needs of the largest image and never shrinks. */
  get memoryBytes(): number { return this.machine.memoryBytes; }

  /** dispose ends the instance and its graphs. */
  dispose(): void { this.machine.dispose(); }
}

/** Graph is an open graph. */
export class Graph {
  /** The inputs, in order. */
  readonly inputs: readonly Description[];
  /** The outputs, then the side outputs. */
  readonly outputs: readonly Description[];
  private readonly axis: boolean[];

  /** @internal */
  constructor(private readonly machine: Machine, private readonly program: Program, columns: RawTensor[]) {
    const all = columns.map((c) => ({ name: c.name, type: c.dtype as TensorType, layout: c.layout, dims: c.dims }));
    this.inputs = all.filter((_, i) => columns[i]!.step === 0);
    this.outputs = all.filter((_, i) => columns[i]!.step !== 0);
    this.axis = columns.filter((c) => c.step !== 0).map((c) => c.step >> 2 !== 2); // 2 is the rule concat
  }

  /**
   * run computes the graph's outputs. A graph of several inputs takes an object
   * with one value for each, by name. The result belongs to the caller.
   */
  async run(input: ImageInput | Input | Record<string, Input>, options: RunOptions = {}): Promise<Result> {
    const { signal, batch = true } = options;
    signal?.throwIfAborted();
    const inputs = await Promise.all(this.listed(input).map((i) => read(i, this.machine.limits.input, signal)));
    signal?.throwIfAborted();
    return this.machine.with(this.program, (i, handle) => {
      const out = i.run(handle, inputs).map((t, k) => [t.name, copied(t, batch && this.axis[k]!)] as const);
      return { ...out[0]![1], outputs: Object.fromEntries(out) };
    });
  }

  /** dispose closes the graph. */
  dispose(): void { this.machine.close(this.program); }

  /** listed returns the inputs in order. */
  private listed(input: ImageInput | Input | Record<string, Input>): Input[] {
    const prototype: unknown = typeof input === 'object' && input !== null ? Object.getPrototypeOf(input) : undefined;
    const named = (prototype === Object.prototype || prototype === null) && !tensorLike(input);
    if (!named) {
      if (this.inputs.length === 1) return [input as Input];
      throw new InferPrepError('input', `infer-prep: run: the graph has ${this.inputs.length} inputs: want an object with ${this.names()}`);
    }
    const given = input as Record<string, Input>;
    const unknown = Object.keys(given).find((k) => !this.inputs.some((i) => i.name === k));
    if (unknown !== undefined) throw new InferPrepError('input', `infer-prep: run: unknown input "${unknown}": want ${this.names()}`);
    return this.inputs.map(({ name }) => {
      const v = given[name];
      if (v === undefined) throw new InferPrepError('input', `infer-prep: run: input "${name}" is missing: want ${this.names()}`);
      return v;
    });
  }

  private names(): string { return this.inputs.map((i) => `"${i.name}"`).join(', '); }
}
