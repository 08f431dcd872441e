// goldens.mjs in a page or a Worker.
import { init } from '/wasm/dist/index.js';
import { digest } from '/wasm/browser/smoke.mjs';
import { goldens } from '/wasm/browser/goldens.mjs';

const read = async (path) => {
  const r = await fetch(path);
  if (!r.ok) throw new Error(`${path}: HTTP status ${r.status}`);
  return new Uint8Array(await r.arrayBuffer());
};

/** run runs the goldens with one of the package's files. */
export async function run({ build, simd, all, every }) {
  const prep = await init({ build, simd });
  try {
    return await goldens({ prep, read, digest, all, every });
  } finally {
    prep.dispose();
  }
}
