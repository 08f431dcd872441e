import { createPool, init, InferPrepError } from '/wasm/dist/index.js';

const defaults = { color: 'rgb', alpha: 'drop', gray16: 'clip', refuse: [], orientation: 'ignore', damage: 'pillow', scale: 'full' };

/** graphOf returns a graph in JSON form of steps on an image; the first decodes. */
const graphOf = (decode, ...steps) => new TextEncoder().encode(JSON.stringify({
  infer_prep_graph: 1,
  inputs: [{ name: 'image', dtype: 'bytes', layout: 'none', shape: [] }],
  steps: [{ op: 'decode', params: { ...defaults, ...decode } }, ...steps].map((s) => ({ version: 1, in: ['image'], out: ['image'], ...s })),
  outputs: ['image'],
}));

const graphs = {
  pixels: graphOf({}),
  gray: graphOf({ color: 'gray', orientation: 'apply' }),
  upright: graphOf({ orientation: 'apply' }, { op: 'center_crop', params: { height: 20, width: 24, crop_rounding: 'half_even', fill: [0] } }),
};

// Decodes that a file and its pixels may answer differently.
const ownOnly = {
  half: graphOf({ scale: 'half' }), strict: graphOf({ damage: 'strict' }), lenient: graphOf({ damage: 'lenient' }),
  luma: graphOf({ color: 'luma' }), refuse: graphOf({ refuse: ['gray'] }),
};

/** count replaces ImageDecoder by one that counts the files that it decodes. */
function count() {
  const own = globalThis.ImageDecoder;
  const counter = { files: 0, end() { globalThis.ImageDecoder = own; } };
  if (own) {
    globalThis.ImageDecoder = class extends own {
      async decode(options) {
        const r = await super.decode(options);
        counter.files++;
        return r;
      }
    };
  }
  return counter;
}

const fetched = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());

async function outcome(graph, file) {
  try {
    const { data, dims } = await graph.run(file);
    return { data, dims };
  } catch (e) {
    if (e instanceof InferPrepError) return { code: e.code };
    throw e;
  }
}

const same = (a, b) => a.code === b.code && String(a.dims) === String(b.dims) && (a.data === undefined || a.data.every((v, i) => v === b.data[i]));

async function both(options = {}) {
  const own = await init({ build: 'full', ...options }), browser = await init({ build: 'full', decode: 'browser', ...options });
  return { own, browser, dispose() { own.dispose(); browser.dispose(); } };
}

/** files runs all graphs on files, with and without the browser's decoder. */
export async function files({ paths }) {
  const prep = await both();
  const decoding = await prep.browser.decoding();
  const counter = count();
  const different = [];
  for (const [name, graph] of Object.entries(graphs)) {
    const own = await prep.own.graph(graph), browser = await prep.browser.graph(graph);
    for (const path of paths) {
      const file = await fetched(path);
      if (!same(await outcome(own, file), await outcome(browser, file))) different.push(`${path} ${name}`);
    }
  }
  counter.end();
  prep.dispose();
  return { different, decoding, byBrowser: counter.files / Object.keys(graphs).length };
}

/** mutated does the same with n broken copies of files. */
export async function mutated({ paths, n }) {
  const prep = await both();
  await prep.browser.decoding();
  const own = await prep.own.graph(graphs.pixels), browser = await prep.browser.graph(graphs.pixels);
  const counter = count();
  const originals = await Promise.all(paths.map(fetched));
  let state = 1;
  const random = (below) => (state = state * 48271 % 2147483647) % below; // minstd
  const different = [], codes = {};
  for (let k = 0; k < n; k++) {
    const file = originals[k % originals.length].slice();
    const header = k % 4 === 0 ? 2 : file.findIndex((v, i) => v === 0xff && file[i + 1] === 0xda) + 14;
    for (let i = 0; i <= k % 3; i++) file[header + random(file.length - header - 2)] = random(256);
    const a = await outcome(own, file), b = await outcome(browser, file);
    codes[a.code ?? 'none'] = (codes[a.code ?? 'none'] ?? 0) + 1;
    if (!same(a, b)) different.push(`${paths[k % paths.length]}, copy ${k}: ${a.code} and ${b.code}`);
  }
  counter.end();
  prep.dispose();
  return { different, codes, byBrowser: counter.files };
}

/** wrong changes one bit of the first frame's planes, and returns the proof and whether results are the same. */
export async function wrong({ path, format }) {
  const frames = globalThis.VideoFrame.prototype, own = frames.copyTo;
  let copies = 0;
  frames.copyTo = async function (destination, options) {
    const layout = await own.call(this, destination, options);
    if (this.format === format && ++copies === 1) destination[destination.length >> 1] ^= 1;
    return layout;
  };
  const prep = await both();
  try {
    const decoding = await prep.browser.decoding();
    const file = await fetched(path);
    const counter = count();
    const a = await outcome(await prep.own.graph(graphs.pixels), file), b = await outcome(await prep.browser.graph(graphs.pixels), file);
    counter.end();
    return { decoding, same: same(a, b), byBrowser: counter.files };
  } finally {
    frames.copyTo = own;
    prep.dispose();
  }
}

/** excluded runs what the browser must not decode, and returns how many files it decoded. */
export async function excluded({ path }) {
  const file = await fetched(path);
  const result = {};
  for (const [name, graph] of Object.entries(ownOnly)) {
    const prep = await both();
    await prep.browser.decoding();
    const counter = count();
    const equal = same(await outcome(await prep.own.graph(graph), file), await outcome(await prep.browser.graph(graph), file));
    counter.end();
    result[name] = { equal, byBrowser: counter.files };
    prep.dispose();
  }
  for (const [name, limits] of Object.entries({ pixels: { pixels: 1000 }, bytes: { bytes: 1000 } })) {
    const prep = await both({ limits });
    await prep.browser.decoding();
    const counter = count();
    const a = await outcome(await prep.own.graph(graphs.pixels), file), b = await outcome(await prep.browser.graph(graphs.pixels), file);
    counter.end();
    result[name] = { equal: same(a, b) && a.code === 'limit', byBrowser: counter.files };
    prep.dispose();
  }
  return result;
}

/** pooled returns the proof of a pool, and whether its results are the same. */
export async function pooled({ path }) {
  const own = await init({ build: 'full' }), pool = await createPool({ build: 'full', workers: 2, decode: 'browser' });
  try {
    const file = await fetched(path);
    const a = await outcome(await own.graph(graphs.upright), file), b = await outcome(await pool.graph(graphs.upright), file);
    return { decoding: await pool.decoding(), same: same(a, b), code: a.code };
  } finally {
    own.dispose();
    pool.dispose();
  }
}
