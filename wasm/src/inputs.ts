import { InferPrepError } from './errors.js';
import type { RawInput } from './instance.js';
import { interleaved, isSamples, wav, type Samples } from './samples.js';
import { arrays, types, type Tensor } from './tensor.js';

/**
 * ImageInput is an image.
 *
 * - `Blob`, `ArrayBuffer` and its views hold an encoded image. Tensors of files
 *   have exactly the reference's bytes.
 * - `HTMLImageElement` is fetched again from its address to get the file, so
 *   that it is as exact. The page's CSP and CORS must allow that.
 * - `ImageData` is exact for its pixels. Its color space is ignored.
 * - `ImageBitmap`, `HTMLCanvasElement` and `OffscreenCanvas` are read back
 *   through a canvas. That keeps opaque pixels and changes transparent ones,
 *   since canvases multiply colors by alpha. The browser may have converted
 *   the colors of an ImageBitmap when it was made; it does not if
 *   `createImageBitmap` has `colorSpaceConversion: 'none'`.
 * - `VideoFrame` and `HTMLVideoElement` are converted to RGB by the browser.
 *   Browsers differ in that conversion.
 *
 * An input must not change until the run ends. The caller keeps it: nothing is
 * transferred or closed.
 */
export type ImageInput =
  | Blob | ArrayBuffer | ArrayBufferView
  | ImageData | ImageBitmap | VideoFrame | HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas;

/** TensorInput is an input of a graph that is not an encoded image. Default layout: `none`. */
export type TensorInput = Omit<Tensor, 'layout'> & Partial<Pick<Tensor, 'layout'>>;

/**
 * SoundInput is a sound, for graphs that begin with `decode_sound`. A file of a
 * sound is a `Blob`, an `ArrayBuffer` or a view. Another sampling rate than the
 * graph's is an error. An `AudioBuffer` has the rate of the context that made
 * it.
 */
export type SoundInput = Samples | AudioBuffer;

/** Input is a value of one of a graph's inputs. */
export type Input = ImageInput | SoundInput | TensorInput;

/** Portable is an input that a Worker can read. */
export type Portable = Exclude<Input, HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas | SoundInput>;

/** The classes of inputs. */
interface Classes {
  Blob: Blob; File: File; ArrayBuffer: ArrayBuffer; SharedArrayBuffer: SharedArrayBuffer;
  ImageData: ImageData; ImageBitmap: ImageBitmap; VideoFrame: VideoFrame;
  HTMLImageElement: HTMLImageElement; HTMLVideoElement: HTMLVideoElement; HTMLCanvasElement: HTMLCanvasElement; OffscreenCanvas: OffscreenCanvas;
  AudioBuffer: AudioBuffer;
}

/** is reports whether v is an object of a class, perhaps of another realm's. */
function is<N extends keyof Classes>(v: unknown, name: N): v is Classes[N] {
  const c = (globalThis as Record<string, unknown>)[name];
  return (typeof c === 'function' && v instanceof c) || Object.prototype.toString.call(v) === `[object ${name}]`;
}

const isBlob = (v: unknown): v is Blob => is(v, 'Blob') || is(v, 'File');
const isBuffer = (v: unknown): v is ArrayBuffer => is(v, 'ArrayBuffer') || is(v, 'SharedArrayBuffer');

/** isTensor reports whether v has the fields of a Tensor. */
export function isTensor(v: unknown): v is TensorInput {
  return typeof v === 'object' && v !== null && 'data' in v && 'dims' in v && 'type' in v;
}

/** invalid returns the error of an input. */
const invalid = (text: string, cause?: unknown): InferPrepError =>
  new InferPrepError('input', `infer-prep: run: ${text}`, cause === undefined ? undefined : { cause });

/** limited throws if an input has more bytes than the limit. */
function limited(bytes: number, limit: number): void {
  if (bytes > limit) throw new InferPrepError('limit', `infer-prep: run: the input has ${bytes} bytes: limits.input is ${limit}`);
}

/** attached throws if a buffer is detached. ArrayBuffer.detached is too new to rely on. */
export function attached(buffer: ArrayBufferLike): void {
  try {
    new Uint8Array(buffer);
  } catch (cause) {
    throw invalid('the buffer is detached: it was transferred, to a Worker for example', cause);
  }
}

/** view returns the bytes of a buffer or of a view of one. */
function view(v: ArrayBuffer | ArrayBufferView, limit: number): Uint8Array {
  const buffer = ArrayBuffer.isView(v) ? v.buffer : v;
  attached(buffer);
  limited(v.byteLength, limit);
  return ArrayBuffer.isView(v) ? new Uint8Array(v.buffer, v.byteOffset, v.byteLength) : new Uint8Array(v);
}

/**
 * portable turns inputs that exist only in documents, and samples, into others. The caller
 * closes or transfers nothing of the result.
 */
export async function portable(input: Input, limit: number, signal?: AbortSignal): Promise<Portable> {
  if (is(input, 'HTMLImageElement')) return refetch(input, limit, signal);
  if (is(input, 'HTMLVideoElement')) return drawn(input, input.videoWidth, input.videoHeight, 'RGB', limit);
  if (is(input, 'HTMLCanvasElement') || is(input, 'OffscreenCanvas')) {
    return drawn(input, input.width, input.height, 'RGBA', limit);
  }
  if (is(input, 'AudioBuffer')) return wav(interleaved(input), limit);
  if (isSamples(input)) {
    attached(input.data.buffer);
    return wav(input, limit);
  }
  return input;
}

async function refetch(image: HTMLImageElement, limit: number, signal?: AbortSignal): Promise<Blob> {
  const url = image.currentSrc || image.src;
  let size: number;
  try {
    const r = await fetch(url, signal ? { signal } : {});
    if (!r.ok) throw new Error(`HTTP status ${r.status}`);
    size = Number(r.headers.get('content-length'));
    if (size <= limit) return await r.blob();
    await r.body?.cancel();
  } catch (cause) {
    signal?.throwIfAborted();
    throw invalid(`the file of the image element, ${url}, cannot be fetched again (${String(cause)}): pass the file as a Blob, or its pixels as ImageData`, cause);
  }
  limited(size, limit);
  throw invalid(`the file of the image element, ${url}, has no size`);
}

/** sendable returns an input for a message to a Worker, and what to transfer. The input itself stays usable. */
export function sendable(input: Portable, limit: number): { value: Portable; transfer: Transferable[] } {
  if (isBlob(input)) {
    limited(input.size, limit);
  } else if (isBuffer(input) || ArrayBuffer.isView(input)) {
    // A view's whole buffer would be cloned.
    const value = view(input, limit).slice();
    return { value, transfer: [value.buffer] };
  } else if (is(input, 'VideoFrame')) {
    if (input.displayWidth === 0) throw empty(input);
    const value = input.clone();
    return { value, transfer: [value] };
  } else if (is(input, 'ImageBitmap')) {
    if (input.width === 0) throw empty(input);
  } else if (is(input, 'ImageData')) {
    checkPixels(input, limit);
  } else if (isTensor(input)) {
    const { bytes } = tensor(input, limit);
    const data = new arrays[input.type](bytes.slice().buffer);
    return { value: { ...input, data }, transfer: [data.buffer] };
  } else {
    throw unknown(input);
  }
  return { value: input, transfer: [] };
}

/** read turns an input into bytes: those of its file, a header and its pixels, or a tensor's elements. */
export async function read(input: Portable, limit: number): Promise<RawInput> {
  if (isBlob(input)) {
    limited(input.size, limit);
    try {
      return { bytes: new Uint8Array(await input.arrayBuffer()) };
    } catch (cause) {
      throw invalid(`the Blob cannot be read (${String(cause)}): its file may have changed`, cause);
    }
  }
  if (isBuffer(input) || ArrayBuffer.isView(input)) return { bytes: view(input, limit) };
  if (is(input, 'ImageData')) {
    checkPixels(input, limit);
    return { bytes: withHeader({ data: input.data, width: input.width, height: input.height, mode: 'RGBA' }) };
  }
  if (is(input, 'VideoFrame')) return { bytes: drawn(input, input.displayWidth, input.displayHeight, 'RGB', limit) };
  if (is(input, 'ImageBitmap')) return { bytes: drawn(input, input.width, input.height, 'RGBA', limit) };
  if (isTensor(input)) return tensor(input, limit);
  throw unknown(input);
}

function checkPixels({ data }: ImageData, limit: number): void {
  if (data.BYTES_PER_ELEMENT !== 1) throw invalid('an ImageData of 16-bit floats: want the default pixel format, rgba-unorm8');
  attached(data.buffer);
  limited(data.byteLength, limit);
}

function tensor(input: TensorInput, limit: number): RawInput {
  const { data, dims, type, layout = 'none' } = input;
  if (!types.includes(type)) throw invalid(`a tensor of type "${type}": want ${types.join(', ')}`);
  if (!['none', 'HWC', 'CHW'].includes(layout)) throw invalid(`a tensor of layout "${layout}": want none, HWC or CHW`);
  if (!ArrayBuffer.isView(data)) throw invalid(`a tensor whose data is ${typeName(data)}: want a typed array`);
  if (!Array.isArray(dims) || !dims.every((d) => Number.isInteger(d) && d >= 0 && d < 2 ** 31)) {
    throw invalid(`a tensor of dims ${String(dims)}: want an array of whole numbers from 0`);
  }
  const bytes = view(data, limit);
  return type === 'bytes' ? { bytes } : { bytes, dtype: type, layout, dims };
}

/** Pixels are decoded pixels, four bytes each. */
export interface Pixels {
  data: Uint8Array | Uint8ClampedArray;
  width: number;
  height: number;
  /** The mode of Go's package codec: whether alpha and colors count. */
  mode: 'L' | 'RGB' | 'RGBA';
  /** EXIF's orientation, 1 to 8. */
  orientation?: number;
}

/** withHeader returns the form of Go's package codec/pixels. */
export function withHeader(p: Pixels): Uint8Array<ArrayBuffer> {
  const b = new Uint8Array(24 + p.width * p.height * 4);
  b.set([0, 0x49, 0x50, 0x70, 0x69, 0x78, 0, 1]); // "\0IPpix\0" and the version
  const v = new DataView(b.buffer);
  v.setUint32(8, p.width, true);
  v.setUint32(12, p.height, true);
  b.set([{ L: 1, RGB: 4, RGBA: 5 }[p.mode], 4, p.orientation ?? 1], 16);
  b.set(p.data, 24);
  return b;
}

/** drawn reads pixels back from a canvas. */
function drawn(image: CanvasImageSource, width: number, height: number, mode: 'RGB' | 'RGBA', limit: number): Uint8Array<ArrayBuffer> {
  if (width === 0 || height === 0) throw empty(image);
  limited(width * height * 4, limit);
  let data: Uint8ClampedArray | undefined;
  try {
    const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true, colorSpace: 'srgb' });
    context?.drawImage(image, 0, 0, width, height);
    data = context?.getImageData(0, 0, width, height).data;
  } catch (cause) {
    throw invalid(`the pixels of ${typeName(image)} cannot be read (${String(cause)})`, cause);
  }
  if (!data) throw invalid(`the browser has no canvas of ${width}x${height} pixels to read ${typeName(image)} with`);
  return withHeader({ data, width, height, mode });
}

const empty = (v: unknown): InferPrepError => invalid(`${typeName(v)} has no pixels: it is empty, closed or transferred`);

const unknown = (v: unknown): InferPrepError =>
  typeof v === 'string' ? invalid('a value of type String: want a Blob or bytes: fetch the address of the image, or read its path with readFile of node:fs/promises') :
  invalid(`${typeName(v)}: want a Blob, ArrayBuffer, ImageData, ImageBitmap, VideoFrame, HTMLImageElement, HTMLVideoElement or canvas, ` +
    'an AudioBuffer, samples {data, samplingRate}, or a tensor {data, dims, type}');

const typeName = (v: unknown): string =>
  v === null || v === undefined ? String(v) : `a value of type ${(v as { constructor?: { name: string } }).constructor?.name ?? typeof v}`;
