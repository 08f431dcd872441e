import { createPool, init } from '/wasm/dist/index.js';
import { digest } from '/wasm/browser/smoke.mjs';

/**
 * inputs runs a graph on every kind of input of a document, on this thread or
 * in Workers, and returns the digests of its output, or the codes of errors.
 */
export async function inputs({ graph, photo, alpha, pool }) {
  const prep = await (pool ? createPool({ workers: 2 }) : init());
  const g = await prep.graph(Uint8Array.from(graph));
  const result = {};
  const run = async (name, input) => {
    result[name] = await g.run(input, { batch: false }).then(async (r) => `${r.dims} ${await digest(r.data)}`, (e) => `${e.name} ${e.code}: ${e.message}`);
  };
  const blob = await (await fetch(photo)).blob();
  const element = new Image();
  element.src = photo;
  await element.decode();
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: 'none' });
  const { width, height } = bitmap;
  const draw = (canvas) => {
    Object.assign(canvas, { width, height });
    const c = canvas.getContext('2d');
    c.drawImage(bitmap, 0, 0);
    return c.getImageData(0, 0, width, height);
  };
  const canvas = document.createElement('canvas');
  const data = draw(canvas), offscreen = new OffscreenCanvas(width, height);
  draw(offscreen);

  await run('Blob', blob);
  await run('File', new File([blob], 'photo.png'));
  await run('ArrayBuffer', await blob.arrayBuffer());
  await run('DataView', new DataView(await blob.arrayBuffer()));
  await run('HTMLImageElement', element);
  await run('ImageData', data);
  await run('ImageBitmap', bitmap);
  await run('HTMLCanvasElement', canvas);
  await run('OffscreenCanvas', offscreen);
  if (typeof VideoFrame === 'function') {
    const frame = new VideoFrame(canvas, { timestamp: 0 });
    await run('VideoFrame', frame);
    await run('VideoFrame, again', frame);
    frame.close();
    await run('VideoFrame, closed', frame);
  }
  await run('ImageBitmap, again', bitmap);
  bitmap.close();
  await run('ImageBitmap, closed', bitmap);
  await run('HTMLCanvasElement, empty', Object.assign(document.createElement('canvas'), { width: 0 }));
  await run('HTMLVideoElement, empty', document.createElement('video'));
  structuredClone(data.data.buffer, { transfer: [data.data.buffer] });
  await run('ImageData, detached', data);
  await run('HTMLImageElement, missing', Object.assign(new Image(), { src: '/testdata/none.png' }));
  await run('HTMLDivElement', document.createElement('div'));

  // Pixels with alpha, of which a canvas would keep less.
  const rgba = new ImageData(Uint8ClampedArray.from(alpha), alpha.length / 4, 1);
  const { data: opaque } = await g.run(rgba);
  prep.dispose();
  return { result, alpha: [...opaque] };
}
