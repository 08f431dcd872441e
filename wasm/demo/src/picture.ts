// Pictures of tensors.
import type { Tensor } from 'infer-prep';

/** Shape is the size of an image tensor. */
export interface Shape {
  height: number;
  width: number;
  channels: number;
}

/** shape returns the size of an image tensor, or undefined for another tensor. */
export function shape(t: Tensor): Shape | undefined {
  const dims = t.dims.length === 4 && t.dims[0] === 1 ? t.dims.slice(1) : t.dims;
  if (dims.length !== 3 || t.layout === 'none' || t.type === 'bytes') return undefined;
  const [height, width, channels] = (t.layout === 'HWC' ? dims : [dims[1], dims[2], dims[0]]) as [number, number, number];
  return height * width === 0 || channels === 0 || channels > 64 ? undefined : { height, width, channels };
}

/** Planes is an image as channels of height x width numbers. */
export interface Planes {
  height: number;
  width: number;
  channels: Float64Array[];
}

/**
 * planes returns the channels of an image tensor of shape s. It keeps every
 * stride-th pixel of every stride-th row.
 */
export function planes(t: Tensor, s: Shape, stride = 1): Planes {
  const height = Math.ceil(s.height / stride), width = Math.ceil(s.width / stride);
  const value = number(t);
  const channels = Array.from({ length: s.channels }, (_, c) => {
    const p = new Float64Array(height * width);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) p[y * width + x] = value(index(t, s, c, y * stride * s.width + x * stride));
    }
    return p;
  });
  return { height, width, channels };
}

/** index returns the index of channel c of pixel i. */
export function index(t: Tensor, s: Shape, c: number, i: number): number {
  return t.layout === 'HWC' ? i * s.channels + c : c * s.height * s.width + i;
}

/** Figures is what a table says about numbers. */
export interface Figures {
  least: number;
  largest: number;
  mean: number;
  /** The standard deviation. */
  deviation: number;
}

/** figures returns those of the numbers value(0) to value(n - 1). */
export function figures(n: number, value: (i: number) => number): Figures {
  let least = Infinity, largest = -Infinity, sum = 0, squares = 0;
  for (let i = 0; i < n; i++) {
    const v = value(i);
    sum += v;
    if (v < least) least = v;
    if (v > largest) largest = v;
  }
  const mean = sum / n;
  for (let i = 0; i < n; i++) squares += (value(i) - mean) ** 2;
  return { least, largest, mean, deviation: Math.sqrt(squares / n) };
}

/** number returns a function from an element's index to its value. */
export function number(t: Tensor): (i: number) => number {
  const { data } = t;
  if (t.type === 'bfloat16') {
    const bits = new Uint32Array(1), value = new Float32Array(bits.buffer);
    return (i) => {
      bits[0] = Number(data[i]) << 16;
      return value[0]!;
    };
  }
  if (t.type !== 'float16') return (i) => Number(data[i]);
  return (i) => {
    const h = Number(data[i]), sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, fraction = h & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
  };
}

/** range returns the least and the largest value of channels. */
function range(channels: Float64Array[]): [number, number] {
  let lo = Infinity, hi = -Infinity;
  for (const p of channels) {
    for (const v of p) {
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
  }
  return [lo, hi];
}

/** colours returns the picture of 1, 3 or 4 channels. Bytes are levels; other values are stretched from the least to the largest. */
export function colours(t: Tensor, p: Planes): ImageData {
  const { height, width, channels } = p;
  const [lo, hi] = t.type === 'uint8' ? [0, 255] : range(channels.slice(0, 3));
  const scale = hi > lo ? 255 / (hi - lo) : 0;
  const out = new ImageData(width, height);
  for (let i = 0; i < height * width; i++) {
    for (let c = 0; c < 3; c++) out.data[4 * i + c] = (channels[channels.length < 3 ? 0 : c]![i]! - lo) * scale; // rounded by the array
    out.data[4 * i + 3] = channels.length === 4 && t.type === 'uint8' ? channels[3]![i]! : 255;
  }
  return out;
}

// Five colours of viridis, from dark to light.
const scale = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

/** heat returns a channel as colours from lo to hi. */
export function heat(p: Float64Array, width: number, height: number, lo: number, hi: number): ImageData {
  const out = new ImageData(width, height);
  for (let i = 0; i < p.length; i++) {
    const at = hi > lo ? Math.min(Math.max((p[i]! - lo) / (hi - lo), 0), 1) * (scale.length - 1) : 0;
    const k = Math.min(Math.floor(at), scale.length - 2), f = at - k;
    for (let c = 0; c < 3; c++) out.data[4 * i + c] = scale[k]![c]! * (1 - f) + scale[k + 1]![c]! * f;
    out.data[4 * i + 3] = 255;
  }
  return out;
}

/** figure returns a picture with a caption. */
export function figure(picture: ImageData, title: string, text: string, description: string): HTMLElement {
  const canvas = document.createElement('canvas');
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', description);
  canvas.getContext('2d')!.putImageData(picture, 0, 0);
  return captioned(canvas, title, text);
}

/** captioned returns an element with a caption. */
export function captioned(e: HTMLElement, title: string, text: string): HTMLElement {
  const f = document.createElement('figure'), caption = document.createElement('figcaption'), strong = document.createElement('strong');
  strong.textContent = title;
  caption.append(strong, text);
  f.append(e, caption);
  return f;
}
