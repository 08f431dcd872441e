import * as ort from '/ort/ort.wasm.min.mjs';
import { init } from '/wasm/dist/index.js';

ort.env.wasm.wasmPaths = '/ort/';
ort.env.wasm.numThreads = 1;

/** predict opens a bundle, verifies it, and returns the model's output and the tensor's digest for each image. */
export async function predict({ bundle: address, images }) {
  const prep = await init();
  const bundle = await prep.open(address);
  await bundle.verify();
  const session = await ort.InferenceSession.create((await bundle.model()).data);
  const results = {};
  for (const path of images) {
    const t = await bundle.run(await (await fetch(path)).blob());
    const out = await session.run({ [session.inputNames[0]]: new ort.Tensor(t.type, t.data, t.dims) });
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', t.data));
    results[path] = { logits: [...out[session.outputNames[0]].data], sha256: [...digest].map((v) => v.toString(16).padStart(2, '0')).join('') };
  }
  prep.dispose();
  return { results, labels: bundle.labels };
}
