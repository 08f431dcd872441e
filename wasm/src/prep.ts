import { compile, download, load } from '#platform';
import type { Decoding } from './browser-decode.js';
import { openBundle, type Bundle } from './bundle.js';
import { InferPrepError } from './errors.js';
import { isTensor, portable, type Input } from './inputs.js';
import { checked, Machine, type Column, type Description, type Engine, type Limits, type Local, type Program, type Trace } from './machine.js';
import { hasSIMD } from './simd.js';
import { checkObject, checkPreset, graphBytes, sourceBytes, type FileSource } from './source.js';
import type { Tensor, TensorType } from './tensor.js';
import { DeviceGraph, type DeviceOptions, type GPUDeviceLike } from './webgpu.js';

/** The options of {@link init}. */
export interface InitOptions {
  /**
   * The WebAssembly file: its address, its bytes, a response or a compiled
   * module. In node a string that is no URL is a path. Default: the package's own file, chosen by `build` and `simd`.
   */
  module?: string | URL | BufferSource | WebAssembly.Module | Response | PromiseLike<Response>;
  /**
   * `small` has the ops of inference, JPEG and PNG. `full` has every op and
   * image format, reads graphs in JSON form, and imports files of transformers.
   * Default `small`.
   */
  build?: 'small' | 'full';
  /** Whether the file uses SIMD. Default: whether the engine has it. */
  simd?: boolean;
  /** The bounds of one run. */
  limits?: Limits;
  /**
   * Who decodes JPEG files. `browser` lets the browser decode the kinds of file
   * for which a proof at first use finds that every byte is equal;
   * {@link InferPrep.decoding} returns the proof. It takes some 0.2 s. All
   * other files, and all files where the browser has no ImageDecoder, are
   * decoded by this package. Results are the same. Default `own`.
   */
  decode?: 'own' | 'browser';
}

/**
 * init compiles the WebAssembly file and starts an instance of it. It rejects
 * with an error of code `load` if the file cannot be fetched or compiled. A
 * page's CSP must allow `'wasm-unsafe-eval'` in `script-src`.
 */
export async function init(options: InitOptions = {}): Promise<InferPrep> {
  const limits = checked(options.limits), decode = decodeOf(options);
  return new InferPrep(await Machine.create(await moduleOf(options), limits, decode), options);
}

/** decodeOf returns who decodes. */
export function decodeOf({ decode = 'own' }: InitOptions): 'own' | 'browser' {
  if (decode === 'own' || decode === 'browser') return decode;
  throw new InferPrepError('param', `infer-prep: init: unknown decode "${String(decode)}": want own or browser`);
}

/** moduleOf compiles the module that the options name. */
export async function moduleOf(options: InitOptions): Promise<WebAssembly.Module> {
  const { module: m, build = 'small', simd = hasSIMD() } = options;
  if (build !== 'small' && build !== 'full') {
    throw new InferPrepError('param', `infer-prep: init: unknown build "${String(build)}": want small or full`);
  }
  try {
    if (m === undefined) return await load(`infer-prep${build === 'full' ? '-full' : ''}${simd ? '-simd' : ''}`);
    if (m instanceof WebAssembly.Module) return m;
    if (typeof m === 'string' || m instanceof URL) return await compile(download(m));
    if (m instanceof ArrayBuffer || ArrayBuffer.isView(m)) return await WebAssembly.compile(m);
    return await compile(m);
  } catch (cause) {
    throw new InferPrepError('load', `infer-prep: init: the WebAssembly file cannot be loaded: ${String(cause)}`, { cause });
  }
}

/** The options of {@link InferPrep.fromHF}. */
export interface HFOptions {
  /** The backend of transformers. Default `torchvision`, as in transformers 5. */
  backend?: 'torchvision' | 'pil';
  /** Unknown keys to import the file without. Each must be an unknown one. */
  ignoreKeys?: string[];
  signal?: AbortSignal;
}

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

/**
 * InferPrep opens graphs. {@link init} returns one that runs them on the
 * calling thread, which they block; {@link createPool} one that runs them in
 * Workers.
 *
 * Every method may be called at any time, also before earlier promises have
 * settled. If the module ends (it ran out of memory, for example), that call
 * rejects with an error of code `internal`, and later calls run on a new
 * instance, with the same graphs.
 */
export class InferPrep {
  private readonly hint: boolean;

  /** @internal */
  constructor(private readonly engine: Engine, options: InitOptions) {
    this.hint = options.module === undefined && options.build !== 'full';
  }

  /**
   * graph opens a graph in msgpack form. The full build also reads JSON. An
   * error says which function or command takes a file of another kind.
   */
  async graph(graph: FileSource, options: { signal?: AbortSignal } = {}): Promise<Graph> {
    checkPreset(graph);
    checkObject(graph);
    return this.opened(graphBytes(await sourceBytes(graph, 'graph', 'graph', options.signal), this.hint));
  }

  /**
   * fromHF opens the graph of a preprocessor_config.json of transformers: the
   * file, or its content as an object. It needs the full build. Keys that the
   * importer does not know and files of classes that it does not support are
   * errors of code `param` and `unsupported`.
   */
  async fromHF(config: FileSource | Record<string, unknown>, options: HFOptions = {}): Promise<Graph> {
    if (this.hint) {
      throw new InferPrepError('unsupported', "infer-prep: fromHF: the small build has no importer: init({ build: 'full' }) has it; " +
        'infer-prep graph import --hf FILE --msgp -o GRAPH makes a graph for every build');
    }
    const { backend = 'torchvision', ignoreKeys = [], signal } = options;
    const object = typeof config === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(config) as null);
    const file = object ? new TextEncoder().encode(JSON.stringify(config)) : await sourceBytes(config as FileSource, 'fromHF', 'file', signal);
    const head = new TextEncoder().encode(JSON.stringify({ infer_prep_import: 'hf', backend, ignore_keys: ignoreKeys }));
    const both = new Uint8Array(head.length + file.length);
    both.set(head);
    both.set(file, head.length);
    return this.opened(both);
  }

  /**
   * decoding returns which kinds of JPEG file the browser decodes, and why. The
   * first call, or the first JPEG, makes the proof. In a pool each Worker makes
   * its own; this is that of one Worker.
   */
  async decoding(): Promise<Decoding> { return this.engine.decoding(); }

  /**
   * open opens a bundle, and checks its digests and its signature. The bundle
   * keeps the bytes without a copy. The files that Go's reader refuses are
   * refused. So are those whose graph exceeds the limits or has an op that the
   * build lacks: errors of code `limit` and `unknown-op`.
   */
  async open(bundle: FileSource, options: { signal?: AbortSignal } = {}): Promise<Bundle> {
    return openBundle((g) => this.opened(g), await sourceBytes(bundle, 'open', 'bundle', options.signal));
  }

  /** The bytes of memory of all instances. It grows to the needs of the largest image and never shrinks. */
  get memoryBytes(): number { return this.engine.memoryBytes; }

  /**
   * dispose ends the instance or the Workers. Runs that have not ended reject
   * with an error of code `disposed`, as later ones do.
   */
  dispose(): void { this.engine.dispose(); }

  /** opened opens what the module reads. */
  private async opened(bytes: Uint8Array): Promise<Graph> {
    return hinted(this.hint, async () => new Graph(this.engine, await this.engine.open(bytes), this.hint));
  }
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
    const named = (prototype === Object.prototype || prototype === null) && !isTensor(input);
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
async function hinted<T>(hint: boolean, f: () => Promise<T>): Promise<T> {
  try {
    return await f();
  } catch (e) {
    if (!hint || !(e instanceof InferPrepError)) throw e;
    // Go's text about formats that are not linked names Go packages.
    const text = e.message.replace(/ is not linked: import .*/s, ' is not in the small build');
    if (e.code !== 'unknown-op' && text === e.message) throw e;
    throw new InferPrepError(e.code, `${text}; init({ build: 'full' }) has every op and format`, { cause: e });
  }
}

