import { compile, download, load } from '#platform';
import { openBundle, type Bundle } from './bundle.js';
import type { Decoding } from './decoding.js';
import { checked, type Engine, type Limits } from './engine.js';
import { InferPrepError } from './errors.js';
import { Machine } from './machine.js';
import { Graph, hinted } from './open-graph.js';
import { hasSIMD } from './simd.js';
import { checkObject, checkPreset, graphBytes, sourceBytes, type FileSource } from './source.js';

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
  /**
   * The backend of transformers. Default `torchvision`, as in transformers 5. A
   * file with a feature extractor of sound alone needs none; `audio` takes that
   * of a file with both, and `samples` makes it a graph of one channel's
   * samples.
   */
  backend?: 'torchvision' | 'pil' | 'audio' | 'samples';
  /** The program that reads image files; docs/graphs.md describes them. Default `pillow`. */
  decoder?: 'pillow' | 'load_image' | 'torchcodec' | 'vllm' | 'sglang';
  /** Unknown keys to import the file without. Each must be an unknown one. */
  ignoreKeys?: string[];
  signal?: AbortSignal;
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
    const { backend = 'torchvision', decoder = 'pillow', ignoreKeys = [], signal } = options;
    const object = typeof config === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(config) as null);
    const file = object ? new TextEncoder().encode(JSON.stringify(config)) : await sourceBytes(config as FileSource, 'fromHF', 'file', signal);
    const head = new TextEncoder().encode(JSON.stringify({ infer_prep_import: 'hf', backend, decoder, ignore_keys: ignoreKeys }));
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
