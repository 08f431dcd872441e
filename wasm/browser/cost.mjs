// Memory, start and bad input, in a page.
import { init } from '/wasm/dist/index.js';
import { digest } from '/wasm/browser/smoke.mjs';

const bytes = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());

/** memory runs a graph on count images in turn, and returns the module's memory after each. */
export async function memory({ graph, images, count, build = 'small', simd = true }) {
  const prep = await init({ build, simd });
  const g = await prep.graph(await bytes(graph));
  const files = await Promise.all(images.map(bytes));
  const list = [];
  for (let i = 0; i < count; i++) {
    await g.run(files[i % files.length]);
    list.push(prep.memoryBytes);
  }
  prep.dispose();
  return list;
}

/** start fetches the module and runs a graph, with the time of each part in milliseconds. */
export async function start({ graph, image }) {
  const { compileStreaming } = WebAssembly;
  const parts = { streamed: false };
  // The package compiles with this function, or not at all while downloading.
  WebAssembly.compileStreaming = async (response) => {
    const t = performance.now();
    const m = await compileStreaming.call(WebAssembly, response);
    parts.streamed = true;
    parts.compile = performance.now() - t;
    return m;
  };
  try {
    const begin = performance.now();
    const prep = await init();
    parts.init = performance.now() - begin;
    let t = performance.now();
    const [g, file] = await Promise.all([bytes(graph), bytes(image)]);
    parts.inputs = performance.now() - t;
    t = performance.now();
    const r = await (await prep.graph(g)).run(file);
    parts.run = performance.now() - t;
    parts.total = performance.now() - begin;
    parts.sum = await digest(r.data);
    prep.dispose();
  } finally {
    WebAssembly.compileStreaming = compileStreaming;
  }
  const entry = performance.getEntriesByType('resource').find(({ name }) => name.endsWith('.wasm'));
  parts.cached = entry.transferSize === 0;
  return parts;
}

/** random returns a generator of whole numbers below n: xorshift32. */
function random(seed) {
  let s = seed;
  return (n) => {
    s ^= s << 13; s >>>= 0;
    s ^= s >>> 17;
    s ^= s << 5; s >>>= 0;
    return s % n;
  };
}

/**
 * mutations runs a graph on changed copies of files: up to eight bytes
 * replaced, and every third cut. After each, golden must give sum.
 *
 * @returns how many gave a tensor and which errors the others
 */
export async function mutations({ graph, images, count, golden, sum, build = 'small', simd = true }) {
  const prep = await init({ build, simd, limits: { pixels: 4e6 } });
  const g = await prep.graph(await bytes(graph));
  const good = await bytes(golden);
  const files = await Promise.all(images.map(bytes));
  const counts = { tensors: 0 }, wrong = [];
  const next = random(20261123);
  for (let i = 0; i < count; i++) {
    let f = files[i % files.length].slice();
    for (let n = 1 + next(8); n > 0; n--) f[next(f.length)] = next(256);
    if (i % 3 === 2) f = f.subarray(0, next(f.length));
    try {
      await g.run(f);
      counts.tensors++;
    } catch (e) {
      if (e.name !== 'InferPrepError' || e.code === 'internal') wrong.push(`${i}: ${e.code}: ${e.message}`);
      counts[e.code] = (counts[e.code] ?? 0) + 1;
    }
    if (await digest((await g.run(good)).data) !== sum) wrong.push(`${i}: the golden image has other bytes`);
  }
  const memory = prep.memoryBytes;
  prep.dispose();
  return { counts, wrong, memory };
}

/** bad runs a preset on each of inputs that are refused, and the golden after each. */
export async function bad({ graph, golden, sum, truncated, bomb }) {
  const prep = await init();
  const g = await prep.graph(await bytes(graph));
  const good = await bytes(golden);
  const gone = new ArrayBuffer(8);
  structuredClone(gone, { transfer: [gone] });
  const inputs = {
    truncated: (await bytes(truncated)).subarray(0, 400), bomb: await bytes(bomb), text: new TextEncoder().encode('not an image'),
    empty: new Uint8Array(0), detached: gone, large: new Uint8Array(300e6), 'large Blob': new Blob([new Uint8Array(300e6)]),
  };
  const result = {};
  for (const [name, input] of Object.entries(inputs)) {
    result[name] = await g.run(input).then(() => 'no error', (e) => `${e.name} ${e.code}: ${e.message}`);
    if (await digest((await g.run(good)).data) !== sum) result[name] += '; the golden image has other bytes';
  }
  prep.dispose();
  return result;
}
