// Pictures of tensors.
import type { Tensor } from 'infer-prep';

/** Planes is an image tensor, as channels of height x width numbers. */
export interface Planes {
  height: number;
  width: number;
  channels: Float64Array[];
}

/** planes returns the channels of an image tensor, or undefined for another tensor. */
export function planes(t: Tensor): Planes | undefined {
  const dims = t.dims.length === 4 && t.dims[0] === 1 ? t.dims.slice(1) : t.dims;
  if (dims.length !== 3 || t.layout === 'none' || t.type === 'bytes') return undefined;
  const hwc = t.layout === 'HWC';
  const [height, width, n] = (hwc ? dims : [dims[1], dims[2], dims[0]]) as [number, number, number];
  if (height * width === 0 || n > 64) return undefined;
  const channels = Array.from({ length: n }, (_, c) => {
    const p = new Float64Array(height * width);
    for (let i = 0; i < p.length; i++) p[i] = Number(t.data[hwc ? i * n + c : c * p.length + i]);
    return p;
  });
  return { height, width, channels };
}

/** range returns the least and the largest value of channels. */
export function range(channels: Float64Array[]): [number, number] {
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
