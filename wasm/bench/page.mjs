// The contenders, in the page. Each makes a float32 tensor of 3 x 224 x 224 as
// torchvision's evaluation of ImageNet does: the shorter side to 256, the centre
// of 224 x 224, mean and deviation.
import decodeJPEG, { init as initJPEG } from '@jsquash/jpeg/decode.js';
import resize, { initResize } from '@jsquash/resize';
import { CLIPImageProcessor, RawImage } from '@huggingface/transformers';
import { init } from 'infer-prep';
import { imagenet } from 'infer-prep/presets';

const mean = [0.485, 0.456, 0.406], std = [0.229, 0.224, 0.225], side = 224, short = 256;

/** normalised makes the tensor of a window of an image of four channels, or of n. */
function normalised(data, width, left, top, n = 4) {
  const out = new Float32Array(3 * side * side);
  for (let c = 0; c < 3; c++) {
    const scale = 1 / (255 * std[c]), shift = mean[c] / std[c];
    for (let y = 0, i = c * side * side; y < side; y++) {
      for (let x = 0, j = ((top + y) * width + left) * n + c; x < side; x++, i++, j += n) out[i] = data[j] * scale - shift;
    }
  }
  return out;
}

/** geometry returns the size after torchvision's Resize(256), and the window of its CenterCrop. */
function geometry(w, h) {
  const width = w <= h ? short : Math.floor(short * w / h), height = w <= h ? Math.floor(short * h / w) : short;
  const middle = (n) => (n % 4 === 3 ? (n + 1) / 2 : n >> 1); // half to even, as Python rounds
  return { width, height, left: middle(width - side), top: middle(height - side) };
}

const compiled = async (path) => WebAssembly.compileStreaming(fetch(path));

async function ours(options) {
  const prep = await init({ module: `/wasm/dist/infer-prep${options.simd ? '-simd' : ''}.wasm`, decode: options.decode ?? 'own' });
  if (options.decode) await prep.decoding();
  const graph = await prep.graph(imagenet);
  return async (bytes) => (await graph.run(bytes)).data;
}

const makers = {
  'infer-prep, SIMD': () => ours({ simd: true }),
  'infer-prep, browser decode': () => ours({ simd: true, decode: 'browser' }),
  'infer-prep, no SIMD': () => ours({ simd: false }),
  '@jsquash/jpeg + resize': async () => {
    await initJPEG(await compiled('/modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'));
    await initResize(await compiled('/modules/@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm'));
    return async (bytes) => {
      const image = await decodeJPEG(bytes.buffer), g = geometry(image.width, image.height);
      const small = await resize(image, { width: g.width, height: g.height, method: 'triangle', premultiply: false, linearRGB: false });
      return normalised(small.data, g.width, g.left, g.top);
    };
  },
  canvas: () => {
    const canvas = new OffscreenCanvas(side, side), context = canvas.getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'high';
    return async (bytes) => {
      const bitmap = await createImageBitmap(new Blob([bytes])), g = geometry(bitmap.width, bitmap.height);
      context.drawImage(bitmap, -g.left, -g.top, g.width, g.height);
      bitmap.close();
      return normalised(context.getImageData(0, 0, side, side).data, side, 0, 0);
    };
  },
  'transformers.js': () => {
    const processor = new CLIPImageProcessor({
      do_resize: true, size: { shortest_edge: short }, resample: 2, do_center_crop: true, crop_size: { width: side, height: side },
      do_rescale: true, rescale_factor: 1 / 255, do_normalize: true, image_mean: mean, image_std: std,
    });
    return async (bytes) => (await processor(await RawImage.fromBlob(new Blob([bytes], { type: 'image/jpeg' })))).pixel_values.data;
  },
  'wasm-vips': async () => {
    const { default: Vips } = await import('/modules/wasm-vips/lib/vips-es6.js');
    const vips = await Vips({ dynamicLibraries: [] });
    return (bytes) => {
      const image = vips.Image.newFromBuffer(bytes), g = geometry(image.width, image.height);
      const small = image.resize(g.width / image.width, { vscale: g.height / image.height, kernel: 'linear' });
      const window = small.crop(Math.min(g.left, small.width - side), g.top, side, side);
      const out = normalised(window.writeToMemory(), side, 0, 0, 3);
      for (const i of [window, small, image]) i.delete();
      return out;
    };
  },
};

/** levels returns the largest difference in levels of 255. */
function levels(a, b) {
  if (a.length !== b.length) throw new Error(`${a.length} values, want ${b.length}`);
  let most = 0;
  for (let c = 0, i = 0; c < 3; c++) for (let k = 0; k < side * side; k++, i++) most = Math.max(most, Math.abs(a[i] - b[i]) * std[c] * 255);
  return Math.round(most);
}

/** bench times the contenders on an image, in turn, and compares their tensors with the reference. */
export async function bench({ image, reference, rounds }) {
  const bytes = new Uint8Array(await (await fetch(image)).arrayBuffer());
  const want = new Float32Array(await (await fetch(reference)).arrayBuffer());
  const runs = {}, result = {};
  for (const [name, make] of Object.entries(makers)) {
    runs[name] = (globalThis.made ??= {})[name] ??= await make();
    const got = await runs[name](bytes);
    result[name] = { largest: levels(got, want), equal: new Uint32Array(got.buffer, got.byteOffset, got.length).every((v, i) => v === new Uint32Array(want.buffer)[i]), times: [] };
    // Engines compile hot code anew while it runs.
    for (const end = performance.now() + 500; performance.now() < end;) await runs[name](bytes);
  }
  for (let r = 0; r < rounds; r++) {
    for (const [name, run] of Object.entries(runs)) {
      let n = 0;
      const start = performance.now();
      do {
        await run(bytes);
        n++;
      } while (performance.now() - start < 50);
      result[name].times.push((performance.now() - start) / n);
    }
  }
  return result;
}
