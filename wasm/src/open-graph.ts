import type { Column, Description, Engine, Program, Trace } from './engine.js';
import { InferPrepError } from './errors.js';
import { isTensor, portable, type Input } from './inputs.js';
import { Machine, type Local } from './machine.js';
import { checkFormat, isSamples } from './samples.js';
import { SoundStream, type StreamOptions } from './stream.js';
import type { Tensor, TensorType } from './tensor.js';
import { DeviceGraph, type DeviceOptions, type GPUDeviceLike } from './webgpu.js';

/** The options of {@link Graph.run}. */
export interface RunOptions {
  /**
   * Ends the run between its parts: reading the input, waiting for a Worker,
   * running. The promise rejects with the signal's reason.
   */
  signal?: AbortSignal;
  /**
   * Adds a first axis of 1 to the outputs, since models take batches. Outputs
   * that the graph concatenates in a batch, and byte strings, get none.
   * Default true.
   */
  batch?: boolean;
}

/**
 * Result is the first output of a graph, and all of them by name.
 *
 * Its types are declared as those of ONNX Runtime, so that models take them. If
 * a graph's outputs may be `bfloat16` or `bytes`, declare all types:
 * `const r: Result<TensorType> = await graph.run(photo)`.
 */
export interface Result<T extends TensorType = Exclude<TensorType, 'bfloat16' | 'bytes'>> extends Tensor<T> {
  /** The outputs and side outputs. */
  outputs: Record<string, Tensor<T>>;
}

/** Graph is an open graph. */
export class Graph {
  /** The inputs, in order. */
  readonly inputs: readonly Description[];
  /** The outputs, then the side outputs. */
  readonly outputs: readonly Description[];
  private readonly stacked: boolean[];

  /** @internal */
  constructor(private readonly engine: Engine, private readonly program: Program, private readonly hint: boolean) {
    const described = (c: Column): Description => ({ name: c.name, type: c.type, layout: c.layout, dims: c.dims });
    const outputs = program.columns.filter((c) => !c.input);
    this.inputs = program.columns.filter((c) => c.input).map(described);
    this.outputs = outputs.map(described);
    this.stacked = outputs.map((c) => c.stacked && c.type !== 'bytes');
  }

  /**
   * run computes the graph's outputs. A graph of several inputs takes an object
   * with one value for each, by name. The result belongs to the caller.
   */
  async run(input: Input | Record<string, Input>, options: RunOptions = {}): Promise<Result> {
    const { signal, batch = true } = options;
    return hinted(this.hint, async () => {
      const out = await this.engine.run(this.program, await this.read(input, signal), signal);
      const named = out.map(({ name, ...t }, i) => [name, batch && this.stacked[i] ? { ...t, dims: [1, ...t.dims] } : t] as const);
      return { ...named[0]![1], outputs: Object.fromEntries(named) } as Result;
    });
  }

  /**
   * sizes describes the outputs, then the side outputs, for an image of a height
   * and a width in pixels, as decoded, each 1 to 16777216. It needs no image. A
   * size of -1 depends on the pixels. The sizes have no batch's axis.
   */
  async sizes(height: number, width: number): Promise<Description[]> {
    for (const n of [height, width]) {
      if (!Number.isInteger(n) || n < 1 || n > 2 ** 24) throw new InferPrepError('input', `infer-prep: sizes: ${height} x ${width}: want whole numbers of 1 to 16777216`);
    }
    return this.engine.sizes(this.program, height, width);
  }

  /**
   * trace runs the graph and returns the outputs of every step, without a
   * batch's axis. It takes more time and memory than run.
   */
  async trace(input: Input | Record<string, Input>, options: Pick<RunOptions, 'signal'> = {}): Promise<Trace[]> {
    return hinted(this.hint, async () => this.engine.trace(this.program, await this.read(input, options.signal), options.signal));
  }

  /**
   * onDevice returns the graph with its last steps on a GPU, whose results stay
   * there for a model: resize, crops, flips, pads and the arithmetic on values,
   * with the bytes of {@link run}. It first proves that they are equal, and
   * otherwise rejects with an error of code `golden`; with `unsupported` if the
   * graph has other steps at its end. It needs the full build, not in a pool.
   */
  async onDevice(device: GPUDeviceLike, options: DeviceOptions = {}): Promise<DeviceGraph> {
    if (!(this.engine instanceof Machine)) throw new InferPrepError('unsupported', 'infer-prep: onDevice: pools have no GPU; use init');
    return DeviceGraph.create(this.engine, this.program as Local, device, options, { inputs: (i) => this.listed(i), stacked: this.stacked });
  }

  /**
   * stream returns a stream of a sound, for graphs that begin with
   * `decode_sound` or `decode_pcm`, or whose input is samples. Disposing of the
   * graph does not end its streams. It needs the full build, not in a pool; in a
   * Worker of your own it works as here.
   */
  async stream(options: StreamOptions): Promise<SoundStream> {
    const channels = checkFormat(options);
    if (!(this.engine instanceof Machine)) throw new InferPrepError('unsupported', 'infer-prep: stream: pools have no streams; use init');
    const p = this.program as Local;
    return this.engine.use(p, [], undefined, (i) => new SoundStream(i, p.handle, options.samplingRate, channels));
  }

  /** dispose closes the graph. Runs that have not begun reject with an error of code `disposed`. */
  dispose(): void { this.engine.close(this.program); }

  private async read(input: Input | Record<string, Input>, signal?: AbortSignal) {
    signal?.throwIfAborted();
    const inputs = await Promise.all(this.listed(input).map((i) => portable(i, this.engine.limits.input, signal)));
    signal?.throwIfAborted();
    return inputs;
  }

  /** listed returns the inputs in order. */
  private listed(input: Input | Record<string, Input>): Input[] {
    const prototype: unknown = typeof input === 'object' && input !== null ? Object.getPrototypeOf(input) : undefined;
    const named = (prototype === Object.prototype || prototype === null) && !isTensor(input) && !isSamples(input);
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

/** hinted calls f. Errors about what the small build lacks name the full one. */
export async function hinted<T>(hint: boolean, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (e) {
    if (!hint || !(e instanceof InferPrepError)) throw e;
    // Go's text about formats that are not linked names Go packages.
    const absent = ' is not in the small build';
    const text = e.message.replace(/ is not linked: import .*/s, absent);
    if (e.code !== 'unknown-op' && !text.includes(absent)) throw e;
    throw new InferPrepError(e.code, `${text}; init({ build: 'full' }) has every op and format`, { cause: e });
  }
}

