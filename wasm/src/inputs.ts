import { InferPrepError } from './errors.js';
import type { RawInput } from './instance.js';
import type { Tensor } from './tensor.js';

/**
 * ImageInput is an image.
 *
 * - `Blob`, `ArrayBuffer` and views of one hold an encoded image: its tensors
 *   are exactly the reference's.
 * - `HTMLImageElement` is fetched again from its address, so that it is the
 *   file, too. The page's CSP and CORS must allow that.
 * - `ImageData` is exact for its pixels.
 * - `ImageBitmap`, `HTMLCanvasElement` and `OffscreenCanvas` are read back from
 *   a canvas. The browser may have converted their colours before, and
 *   transparent pixels lose bits in a canvas.
 * - `VideoFrame` and `HTMLVideoElement` are converted to RGB by the browser.
 *   Browsers differ in that conversion.
 */
export type ImageInput =
  | Blob | ArrayBuffer | ArrayBufferView
  | ImageData | ImageBitmap | VideoFrame | HTMLImageElement | HTMLVideoElement | HTMLCanvasElement | OffscreenCanvas;

/** Input is an image, or a tensor for a graph that takes other values. Its `layout` may be absent. */
export type Input = ImageInput | (Omit<Tensor, 'layout'> & Partial<Pick<Tensor, 'layout'>>);

const is = <T>(v: unknown, name: string): v is T => {
  const c = (globalThis as Record<string, unknown>)[name];
  return typeof c === 'function' && v instanceof c;
};

/** tensorLike reports whether v has the fields of a Tensor. */
export function tensorLike(v: unknown): v is Exclude<Input, ImageInput> {
  return typeof v === 'object' && v !== null && 'data' in v && 'dims' in v && 'type' in v;
}

/** limited throws if an input has more bytes than the limit. */
function limited(bytes: number, limit: number): void {
  if (bytes > limit) {
    throw new InferPrepError('limit', `infer-prep: run: the input has ${bytes} bytes, limits.input is ${limit}`);
  }
}

/** read turns an input into bytes: those of its file, a header and its pixels, or a tensor's elements. */
export async function read(input: Input, limit: number, signal?: AbortSignal): Promise<RawInput> {
  if (is<Blob>(input, 'Blob')) {
    limited(input.size, limit);
    return { bytes: new Uint8Array(await input.arrayBuffer()) };
  }
  if (is<HTMLImageElement>(input, 'HTMLImageElement')) return read(await refetch(input, signal), limit, signal);
  return readNow(input, limit);
}

async function refetch(image: HTMLImageElement, signal?: AbortSignal): Promise<Blob> {
  const url = image.currentSrc || image.src;
  try {
    const r = await fetch(url, signal ? { signal } : {});
    if (r.ok) return await r.blob();
    throw new Error(`HTTP status ${r.status}`);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new InferPrepError('input', `infer-prep: run: the image's file ${url} cannot be fetched again (${String(cause)}); ` +
      'pass the file itself as a Blob, or its pixels as ImageData', { cause });
  }
}

/** Pixels are decoded pixels, four bytes each. */
export interface Pixels {
  data: Uint8Array | Uint8ClampedArray;
  width: number;
  height: number;
  /** The mode of package codec: whether alpha and colours count. */
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

async function readNow(input: Exclude<Input, Blob | HTMLImageElement>, limit: number): Promise<RawInput> {
  if (input instanceof ArrayBuffer || ArrayBuffer.isView(input)) {
    const buffer = ArrayBuffer.isView(input) ? input.buffer : input;
    if (detached(buffer)) {
      throw new InferPrepError('input', 'infer-prep: run: the buffer is detached: it was transferred to a Worker or elsewhere');
    }
    limited(input.byteLength, limit);
    return { bytes: ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input) };
  }
  if (is<ImageData>(input, 'ImageData')) {
    if (!(input.data instanceof Uint8ClampedArray)) {
      throw new InferPrepError('input', 'infer-prep: run: an ImageData of 16-bit floats: want the default pixel format, rgba-unorm8');
    }
    limited(input.data.byteLength, limit);
    return { bytes: withHeader({ data: input.data, width: input.width, height: input.height, mode: 'RGBA' }) };
  }
  if (is<HTMLVideoElement>(input, 'HTMLVideoElement')) {
    const frame = new VideoFrame(input);
    try {
      return await readFrame(frame, limit);
    } finally {
      frame.close();
    }
  }
  if (is<VideoFrame>(input, 'VideoFrame')) return readFrame(input, limit);
  if (is<ImageBitmap>(input, 'ImageBitmap') || is<HTMLCanvasElement>(input, 'HTMLCanvasElement') || is<OffscreenCanvas>(input, 'OffscreenCanvas')) {
    return drawn(input, input.width, input.height, 'RGBA', limit);
  }
  if (tensorLike(input)) {
    limited(input.data.byteLength, limit);
    const bytes = new Uint8Array(input.data.buffer, input.data.byteOffset, input.data.byteLength);
    if (input.type === 'bytes') return { bytes };
    return { bytes, dtype: input.type, layout: input.layout ?? 'none', dims: input.dims };
  }
  throw new InferPrepError('input', `infer-prep: run: ${describe(input)}: want a Blob, ArrayBuffer, ImageData, ImageBitmap, VideoFrame, ` +
    'HTMLImageElement, HTMLVideoElement or canvas, or a tensor {data, dims, type}');
}

/** detached reports whether a buffer is detached. ArrayBuffer.detached is too new to rely on. */
function detached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

async function readFrame(frame: VideoFrame, limit: number): Promise<RawInput> {
  if (frame.format === null && frame.displayWidth === 0) {
    throw new InferPrepError('input', 'infer-prep: run: the VideoFrame is closed');
  }
  return drawn(frame, frame.displayWidth, frame.displayHeight, 'RGB', limit);
}

/** drawn reads pixels back from a canvas. */
function drawn(image: CanvasImageSource, width: number, height: number, mode: 'RGB' | 'RGBA', limit: number): RawInput {
  limited(width * height * 4, limit);
  if (width === 0 || height === 0) {
    throw new InferPrepError('input', `infer-prep: run: ${describe(image)} has ${width}x${height} pixels: it is empty, closed or transferred`);
  }
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true, colorSpace: 'srgb' })!;
  context.drawImage(image, 0, 0, width, height);
  return { bytes: withHeader({ data: context.getImageData(0, 0, width, height).data, width, height, mode }) };
}

const describe = (v: unknown): string => (v === null || v === undefined ? String(v) : `a value of type ${(v as object).constructor?.name ?? typeof v}`);
