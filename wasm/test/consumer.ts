// A strict TypeScript project of a package user. It is checked, not run.
import {
  createPool, init, InferPrepError, type Bundle, type Graph, type HFOptions, type ImageInput, type Limits, type Parts, type Result, type SoundStream, type Tensor, type TensorType,
} from 'infer-prep';
import { encode, graph as define, ops, rename, type GraphDefinition, type ResizeParams } from 'infer-prep/graph';
import { microphone, type Microphone } from 'infer-prep/microphone';
import { imagenet } from 'infer-prep/presets';

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

const bundle: Bundle = await prep.open('model.bundle', { signal: AbortSignal.timeout(1000) });
await bundle.verify();
await bundle.verifySignature('-----BEGIN PUBLIC KEY-----');
const model: Uint8Array = (await bundle.model()).data;
const tensor: Result = await bundle.run(new Blob([]));
console.log(model, tensor, bundle.labels[0]?.length, bundle.meta['license'], (await bundle.graph.run(new Blob([]))).dims);

const wide: Result<TensorType> = await graph.run(new Blob([]));
if (wide.type === 'bfloat16') console.log(wide.data);
const options: HFOptions = { backend: 'pil', decoder: 'vllm', ignoreKeys: ['zz'] };
console.log(await prep.fromHF('preprocessor_config.json', options), await prep.fromHF({ image_processor_type: 'ViTImageProcessor' }), await prep.graph('graph.msgp'));

const size: ResizeParams = { height: 224, width: 224, interpolation: 'bicubic' };
const definition: GraphDefinition = rename(define(ops.decode(), ops.resize(size), ops.to_tensor()), 'pixel_values');
await prep.graph(encode({ ...definition, reference: 'mine' }));
await prep.graph(encode('{}'));
await prep.graph(imagenet);
// @ts-expect-error a required parameter is missing
ops.crop({ top: 0, left: 0, height: 1 });
// @ts-expect-error an unknown backend
ops.resize({ backend: 'pil' });
// @ts-expect-error an unknown parameter
ops.resize({ widht: 1 });
// @ts-expect-error an unknown op
ops.reszie();

await graph.run({ data: new Int16Array(8), samplingRate: 16000, channels: 2 });
export async function listen(source: AudioNode): Promise<Microphone> {
  const stream: SoundStream = await graph.stream({ samplingRate: source.context.sampleRate });
  return microphone(source, (block) => {
    const parts: Parts = stream.push(block);
    console.log(parts['input_features']?.dims, stream.axes['input_features']);
  }, { blockSize: 128 });
}
// @ts-expect-error samples have a rate
await graph.stream({});
// @ts-expect-error samples are typed
(await graph.stream({ samplingRate: 16000 })).push([1, 2]);
