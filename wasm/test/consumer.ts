// A strict TypeScript project of a package user. It is checked, not run.
import { createPool, init, InferPrepError, type Graph, type ImageInput, type Limits, type Result, type Tensor } from 'infer-prep';

const limits: Limits = { pixels: 1e6 };
const prep = await init({ build: 'full', limits });
const graph: Graph = await prep.graph(new Uint8Array(8));

export async function run(image: ImageInput): Promise<Tensor> {
  const { signal } = new AbortController();
  const r: Result = await graph.run(image, { signal, batch: false });
  const pixels: Tensor | undefined = r.outputs['pixels'];
  const size: number = r.dims.reduce((a, b) => a * b, 1);
  if (r.data instanceof Float32Array) r.data.fill(size);
  return pixels ?? r;
}

await graph.run({ image: new Blob([]), mask: { type: 'uint8', data: new Uint8Array(4), dims: [2, 2] } });
await graph.run({ type: 'float32', data: new Float32Array(4), dims: [4] });
// @ts-expect-error a string is not an image
await graph.run('image.png');
// @ts-expect-error unknown builds
await init({ build: 'large' });
// @ts-expect-error classes of results are made by init alone
new prep.constructor.InferPrep();

const pool = await createPool({ workers: 2, worker: () => new Worker('worker.js', { type: 'module' }) });
pool.dispose();
try {
  await graph.run(new ArrayBuffer(0));
} catch (e) {
  if (e instanceof InferPrepError && e.code === 'format') console.log(e.message);
  // @ts-expect-error unknown codes
  if (e instanceof InferPrepError && e.code === 'none') console.log(e.message);
}
