// The way in which most pages prepare an image: the browser's canvas resizes it.
import type { Trace } from 'infer-prep';
import { planes, shape } from './picture.js';

/** Geometry is a resize of the whole image followed by a window in its centre. */
export interface Geometry {
  width: number;
  height: number;
  left: number;
  top: number;
  windowWidth: number;
  windowHeight: number;
  /** The last step of bytes with the window's size. */
  step: Trace;
}

/** geometry returns what a graph does if it is that, or undefined. */
export function geometry(steps: Trace[]): Geometry | undefined {
  let size: [number, number] | undefined, window: [number, number] | undefined;
  let last: Trace | undefined;
  for (const s of steps) {
    const p = shape(s);
    if (!p) return undefined;
    const to: [number, number] = [p.height, p.width];
    const same = to[0] === window?.[0] && to[1] === window[1];
    if (size === undefined) { // the image as decoded
      size = window = to;
    } else if (!same) {
      if (s.op.startsWith('resize') && size === window) size = window = to;
      else if (s.op.startsWith('center_crop') && to[0] <= window![0] && to[1] <= window![1]) window = to;
      else return undefined;
    } else if (!/^(resize\w*|center_crop\w*|rescale|normalize|to_tensor|to_type|hwc2chw|standardize|multiply)$/.test(s.op)) {
      return undefined; // it may have moved pixels
    }
    if (s.type === 'uint8' && p.channels === 3) last = s;
  }
  const p = last && shape(last);
  if (!last || p?.height !== window![0] || p.width !== window![1]) return undefined;
  const top = (size![0] - window![0]) / 2, left = (size![1] - window![1]) / 2;
  return { height: size![0], width: size![1], windowHeight: window![0], windowWidth: window![1], top: Math.floor(top), left: Math.floor(left), step: last };
}

/** draw does with the canvas what the geometry says. */
export async function draw(image: Blob | ImageData, g: Geometry): Promise<ImageData> {
  const bitmap = await createImageBitmap(image);
  const context = new OffscreenCanvas(g.windowWidth, g.windowHeight).getContext('2d', { willReadFrequently: true })!;
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, -g.left, -g.top, g.width, g.height);
  bitmap.close();
  return context.getImageData(0, 0, g.windowWidth, g.windowHeight);
}

/**
 * compare draws the picture and compares it. Libraries round the corner of a
 * centred window up or down; the canvas gets the one that fits better.
 */
export async function compare(image: Blob | ImageData, g: Geometry): Promise<{ drawn: ImageData; difference: Difference }> {
  const tops = (g.height - g.windowHeight) % 2 ? [g.top, g.top + 1] : [g.top];
  const lefts = (g.width - g.windowWidth) % 2 ? [g.left, g.left + 1] : [g.left];
  const all = await Promise.all(tops.flatMap((top) => lefts.map(async (left) => {
    const drawn = await draw(image, { ...g, top, left });
    return { drawn, difference: difference(drawn, g.step) };
  })));
  return all.reduce((a, b) => (b.difference.mean < a.difference.mean ? b : a));
}

/** normalised is the rest of the usual way: a float32 tensor of planes. */
export function normalised(d: ImageData): Float32Array {
  const n = d.width * d.height, out = new Float32Array(3 * n);
  const mean = [0.485, 0.456, 0.406], std = [0.229, 0.224, 0.225];
  for (let c = 0; c < 3; c++) for (let i = 0; i < n; i++) out[c * n + i] = (d.data[4 * i + c]! / 255 - mean[c]!) / std[c]!;
  return out;
}

/** Difference is how far two pictures are apart, in levels of 255. */
export interface Difference {
  largest: number;
  mean: number;
  /** The share of values that differ. */
  share: number;
  /** The largest difference of a pixel's channels. */
  map: Float64Array;
}

/** difference compares the canvas's pixels with the step's. */
function difference(canvas: ImageData, step: Trace): Difference {
  const map = new Float64Array(canvas.width * canvas.height);
  let sum = 0, n = 0, largest = 0;
  planes(step, shape(step)!).channels.forEach((p, c) => {
    for (let i = 0; i < map.length; i++) {
      const d = Math.abs(p[i]! - canvas.data[4 * i + c]!);
      sum += d;
      if (d > 0) n++;
      if (d > map[i]!) map[i] = d;
      if (d > largest) largest = d;
    }
  });
  return { largest, mean: sum / (3 * map.length), share: n / (3 * map.length), map };
}
