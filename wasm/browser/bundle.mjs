import { createPool, init, InferPrepError } from '/wasm/dist/index.js';
import { encode, graph, ops } from '/wasm/dist/graph.js';
import { imagenet } from '/wasm/dist/presets.js';

/** verify opens a bundle, runs its golden samples and verifies its signature. */
export async function verify({ bundle, key, pool }) {
  const prep = pool ? await createPool({ workers: 2, build: 'full' }) : await init({ build: 'full' });
  try {
    const b = await prep.open(bundle);
    await b.verify();
    await b.verifySignature(key);
    return { goldens: b.goldens.length, unchecked: b.unchecked, reference: b.reference };
  } finally {
    prep.dispose();
  }
}

/** refused returns the code of the error that a bundle's opening, or its verification, rejects with. */
export async function refused({ bundle, key }) {
  const prep = await init({ build: 'full' });
  try {
    const b = await prep.open(bundle);
    await b.verify();
    await b.verifySignature(key);
    return 'accepted';
  } catch (e) {
    return e instanceof InferPrepError ? e.code : String(e);
  } finally {
    prep.dispose();
  }
}

/** graphs runs a graph of TypeScript's ops and a preset, and returns the error of an unknown op. */
export async function graphs({ image }) {
  const prep = await init();
  const file = await (await fetch(image)).blob();
  const dims = [];
  for (const g of [encode(graph(ops.decode(), ops.resize({ height: 20, width: 30 }))), imagenet]) {
    dims.push((await (await prep.graph(g)).run(file)).dims);
  }
  prep.dispose();
  try {
    encode(graph({ ...ops.decode(), op: 'decoed' }));
    return [dims, 'accepted'];
  } catch (e) {
    return [dims, e instanceof InferPrepError, e.message];
  }
}
