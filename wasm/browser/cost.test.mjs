// Memory, time to the first tensor and bad input, in Chromium.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import test, { after, before } from 'node:test';
import { mounts, write } from './cases.mjs';
import { call, launch, open, serve } from './harness.mjs';

const testdata = new URL('../../testdata/', import.meta.url);
const graph = '/cases/imagenet.msgp';
/** goldens are the references' results of the same preset. */
const { imagenet } = JSON.parse(await readFile(new URL('../importer/preset/testdata/golden.json', testdata)));
const digestOf = (name) => Object.values(imagenet[name])[0].sha256;
const good = { golden: '/testdata/images/png_rgb8.png', sum: digestOf('png_rgb8.png') };
const named = async (pattern) => (await readdir(new URL('images/', testdata))).filter((n) => pattern.test(n)).map((n) => `/testdata/images/${n}`);
const mib = (n) => `${(n / 2 ** 20).toFixed(1)} MiB`;
// PHOTOS is a folder of photographs to add.
const photos = process.env.PHOTOS;

let server, browser;
before(async () => {
  write();
  server = await serve({ mounts: { ...mounts, ...(photos ? { '/photos/': photos } : {}) }, cache: 'max-age=600' });
  browser = await launch('chromium');
});
after(async () => {
  await browser.close();
  await server.close();
});

/** inPage calls a function of cost.mjs in a new page, or in a Worker of it. */
async function inPage(name, args, worker = false) {
  const page = await open(browser, `${server.url}/page.html`);
  try {
    return await call(page, '/wasm/browser/cost.mjs', name, args, { worker });
  } finally {
    await page.close();
  }
}

test('2,000 images take no more memory than 20', async () => {
  const images = [...await named(/\.(jpg|png)$/), ...(photos ? (await readdir(photos)).filter((n) => /\.jpe?g$/i.test(n)).map((n) => `/photos/${encodeURIComponent(n)}`) : [])];
  const sizes = await Promise.all(images.map(async (n) => (await (await fetch(server.url + n)).arrayBuffer()).byteLength));
  const order = images.map((n, i) => [n, sizes[i]]).sort((a, b) => b[1] - a[1]).map(([n]) => n);
  // The 20 largest, and all of them, whose first round is warming up.
  for (const [used, warm] of [[order.slice(0, 20), 20], [order, order.length]]) {
    const list = await inPage('memory', { graph, images: used, count: 2000 }, true);
    console.log(`memory: ${used.length} images in turn: ${mib(list[0])} after the first, ${mib(list[19])} after 20, ${mib(list[warm - 1])} after ${warm}, ${mib(list.at(-1))} after ${list.length}`);
    assert.equal(list.length, 2000);
    // The collector's timing moves the end of the heap a little.
    assert.ok(list.at(-1) - list[warm - 1] <= 2 ** 20, 'the memory grew');
  }
});

for (const image of ['large.jpg', 'large_progressive.jpg']) {
  for (const simd of [false, true]) {
    test(`12 megapixels in 64 MB: ${image}, SIMD ${simd}`, async () => {
      const list = await inPage('memory', { graph, images: [`/cases/${image}`], count: 5, simd });
      console.log(`memory: ${image}, SIMD ${simd}: ${list.map(mib).join(', ')}`);
      assert.ok(list.at(-1) < 64e6, `${list.at(-1)} bytes`);
    });
  }
}

test('the first tensor from a warm HTTP cache', async () => {
  const args = { graph, image: '/testdata/images/jpeg_large.jpg' };
  const runs = [];
  for (let i = 0; i < 8; i++) runs.push(await inPage('start', args));
  for (const [i, r] of runs.entries()) {
    assert.ok(r.streamed, 'compiled while downloading');
    if (i > 0) assert.ok(r.cached, `run ${i} from the cache`);
    assert.equal(r.sum, digestOf('jpeg_large.jpg'));
  }
  const line = (r) => `fetch and compile ${r.compile.toFixed(0)} ms, instance ${(r.init - r.compile).toFixed(0)}, inputs ${r.inputs.toFixed(0)}, graph and run ${r.run.toFixed(0)}: ${r.total.toFixed(0)} ms`;
  console.log(`start, first load: ${line(runs[0])}`);
  const warm = runs.slice(1).sort((a, b) => a.total - b.total);
  console.log(`start, warm HTTP cache, best: ${line(warm[0])}`);
  console.log(`start, warm HTTP cache, median of ${warm.length}: ${line(warm[3])}`);
  assert.ok(warm[0].total < 250, `${warm[0].total} ms`);
});

test('bad input', async () => {
  const result = await inPage('bad', {
    graph, ...good, truncated: '/testdata/images/jpeg_large.jpg', bomb: '/cases/bomb.png',
  });
  for (const [name, want] of Object.entries({
    truncated: /^InferPrepError format/, bomb: /^InferPrepError limit: .*50000x50000/, text: /^InferPrepError format/, empty: /^InferPrepError format/,
    detached: /^InferPrepError input: .*detached/, large: /^InferPrepError limit: .*300000000/, 'large Blob': /^InferPrepError limit: .*300000000/,
  })) {
    assert.match(result[name], want, name);
    assert.doesNotMatch(result[name], /other bytes/, name);
  }
});

for (const [kind, pattern, count] of [['JPEG', /^jpeg_.*\.jpg$/, 1000], ['PNG', /^png_.*\.png$/, 300]]) {
  test(`${count} mutated ${kind} files`, async () => {
    const images = await named(pattern);
    const r = await inPage('mutations', { graph, images, count, ...good });
    console.log(`${count} mutated ${kind} files of ${images.length}: ${JSON.stringify(r.counts)}, ${mib(r.memory)} of wasm memory`);
    assert.deepEqual(r.wrong, []);
  });
}
