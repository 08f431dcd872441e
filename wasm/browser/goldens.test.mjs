// All goldens of the references, in node, Chromium and Firefox, with each of
// the package's files. The huge ones run once with each full file: with SIMD in
// node, without in a Worker of Chromium. Each file runs in one thread of
// Chromium, the page's or a Worker's, with a tenth of the cases: its engine is
// node's. Firefox runs all cases with the full file, and a tenth with the small
// one. With WHOLE=1 all cases run everywhere, and the huge ones in node with both
// files.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mounts, write } from './cases.mjs';
import { summary } from './goldens.mjs';
import { call, launch, open, serve } from './harness.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const files = ['small', 'full'].flatMap((build) => [false, true].map((simd) => ({ build, simd })));

let server;
const browsers = {};
before(async () => {
  console.log(write());
  server = await serve({ mounts, cache: 'max-age=600' });
  [browsers.chromium, browsers.firefox] = await Promise.all([launch('chromium'), launch('firefox')]);
});
after(async () => {
  await Promise.all(Object.values(browsers).map((b) => b.close()));
  await server.close();
});

/** inNode runs them in a process of their own. */
async function inNode(args) {
  const { stdout } = await promisify(execFile)(process.execPath, [at('goldens.node.mjs'), args.build, args.simd, args.all], { maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

/** inBrowser runs them in a page of their own, or in a Worker of it. */
async function inBrowser(name, args, worker) {
  const page = await open(browsers[name], `${server.url}/page.html`);
  try {
    return await call(page, '/wasm/browser/goldens.page.mjs', 'run', args, { worker });
  } finally {
    await page.close();
  }
}

const whole = process.env.WHOLE === '1';
const every = whole ? 1 : 10;
const full = ({ build }) => build === 'full';
const jobs = [
  ...files.map((f) => ['node', { ...f, all: full(f) && (f.simd || whole) }, inNode]),
  ...(whole ? files : [files[1], files[2]]).map((f) => ['Chromium, in a Worker', { ...f, all: full(f), every }, (a) => inBrowser('chromium', a, true)]),
  ...(whole ? files : [files[0], files[3]]).map((f) => ['Chromium, in the page', { ...f, every }, (a) => inBrowser('chromium', a, false)]),
  ...[{ ...files[0], every }, files[3]].map((f, i) => ['Firefox', f, (a) => inBrowser('firefox', a, i === 1)]),
];

// Two at once, as CI has two cores.
test('goldens', { concurrency: 2 }, async (t) => {
  await Promise.all(jobs.map(([where, file, run]) => {
    const name = `${where}: ${file.build}${file.simd ? ' with SIMD' : ''}`;
    return t.test(name, async () => {
      const r = await run({ all: false, ...file });
      console.log(`${name}: ${summary(r)}`);
      if (where === 'node' && !file.simd) {
        for (const [what, n] of Object.entries(r.left).sort()) console.log(`    left to the full build: ${n} of ${what}`);
      }
      assert.deepEqual(r.differences, []);
      assert.ok(r.cases > (file.build === 'full' ? 20_000 : 10_000) / (file.every ?? 1), `${r.cases} cases`);
      if (file.build === 'full') assert.deepEqual(r.left, {});
    });
  }));
  assert.deepEqual(server.violations, [], 'violations of the CSP');
});
