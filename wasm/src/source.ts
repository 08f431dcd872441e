import { download } from '#platform';
import { InferPrepError } from './errors.js';

/**
 * FileSource is a file: its bytes, or where it is downloaded from. In node a
 * string that is no URL is the path of a file.
 */
export type FileSource = Uint8Array | ArrayBuffer | Blob | Response | PromiseLike<Response> | URL | string;

/** sourceBytes returns the bytes of a file. Bytes are not copied. method and what are for messages. */
export async function sourceBytes(source: FileSource, method: string, what: string, signal?: AbortSignal): Promise<Uint8Array> {
  signal?.throwIfAborted();
  // Not the array itself: the methods of Node's Buffer differ.
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (Object.prototype.toString.call(source) === '[object ArrayBuffer]') return new Uint8Array(source as ArrayBuffer); // perhaps another realm's
  const stopped = async <T>(p: PromiseLike<T>): Promise<T> => {
    try {
      return await p;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new InferPrepError('load', `infer-prep: ${method}: the ${what} cannot be read: ${String(cause)}`, { cause });
    }
  };
  if (typeof Blob !== 'undefined' && source instanceof Blob) return new Uint8Array(await stopped(source.arrayBuffer()));
  const address = typeof source === 'string' || source instanceof URL;
  const r = await stopped(address ? download(source, signal) : Promise.resolve(source as Response | PromiseLike<Response>));
  if (typeof r?.arrayBuffer !== 'function') {
    throw new InferPrepError('param', `infer-prep: ${method}: want the ${what} as a Uint8Array, ArrayBuffer, Blob, Response or address`);
  }
  if (!r.ok) throw new InferPrepError('load', `infer-prep: ${method}: ${r.url}: HTTP status ${r.status} ${r.statusText}`);
  const b = new Uint8Array(await stopped(r.arrayBuffer()));
  signal?.throwIfAborted();
  return b;
}

const utf8 = new TextDecoder();

/** The presets of infer-prep/presets, whose bytes this file does without. */
const presets = ['clip', 'decode', 'imagenet', 'yolo'];

const error = (text: string): InferPrepError => new InferPrepError('graph', `infer-prep: graph: ${text}`);

/** checkPreset throws if a graph is the name of a preset. */
export function checkPreset(source: unknown): void {
  if (typeof source === 'string' && presets.includes(source)) {
    throw error(`"${source}" is a preset: import { ${source} } from 'infer-prep/presets', and pass ${source} without quotation marks`);
  }
}

/** checkObject throws if a graph is an object in place of its bytes. */
export function checkObject(source: unknown): void {
  const prototype: unknown = typeof source === 'object' && source !== null ? Object.getPrototypeOf(source) : undefined;
  if (prototype !== Object.prototype && prototype !== null) return;
  if ('infer_prep_graph' in (source as object)) throw error("the object is a graph's definition: encode of infer-prep/graph makes its bytes");
  throw error(`the object is ${kindOf(source as object)}`);
}

/**
 * graphBytes returns a graph in a form that the module reads: msgpack, or in
 * the full build JSON. It throws for files that people take for graphs.
 */
export function graphBytes(bytes: Uint8Array, small: boolean): Uint8Array {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf; // a byte order mark
  const b = marked ? bytes.subarray(3) : bytes;
  const start = b.findIndex((c) => c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09);
  const head = utf8.decode(b.subarray(start, start + 8));
  if (head === 'IPbundle') throw error('the file is a bundle: open opens it');
  if (head === 'Compose(') throw error("the file has torchvision's transforms as Python prints them: infer-prep graph import --torchvision FILE --msgp -o GRAPH makes a graph");
  if (!head.startsWith('{')) return bytes;
  let o: unknown;
  try {
    o = JSON.parse(utf8.decode(b));
  } catch (cause) {
    throw new InferPrepError('graph', `infer-prep: graph: the file begins as JSON, but is invalid: ${String(cause)}`, { cause });
  }
  if (!('infer_prep_graph' in (o as object))) throw error(`the file is ${kindOf(o as object)}`);
  if (small) {
    throw error("the graph is in JSON form, which the small build does not read: use init({ build: 'full' }), encode of infer-prep/graph, " +
      'or infer-prep graph import --graph FILE --msgp -o GRAPH');
  }
  return b;
}

/** kindOf says what a JSON object is that is not a graph, and what reads it. */
function kindOf(o: object): string {
  const has = (...keys: string[]): boolean => keys.some((k) => k in o);
  if (has('image_processor_type', 'feature_extractor_type', 'image_processor')) {
    return "a preprocessor_config.json of transformers: fromHF of init({ build: 'full' }) imports it, or infer-prep graph import --hf FILE --msgp -o GRAPH";
  }
  if (has('pretrained_cfg')) return 'a config.json of timm: infer-prep graph import --timm FILE --msgp -o GRAPH imports it';
  return 'a JSON object without infer_prep_graph: want a graph; infer-prep importers lists the files that infer-prep graph import reads';
}
