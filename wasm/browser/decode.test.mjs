import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import test from 'node:test';
import { call, launch, open, serve } from './harness.mjs';

const module = '/wasm/browser/decode.mjs';
const paths = [];
for (const folder of ['images', 'extremes', 'damaged']) {
  for (const name of await readdir(new URL(`../../testdata/${folder}`, import.meta.url))) if (name.endsWith('.jpg')) paths.push(`/testdata/${folder}/${name}`);
}
const kinds = ['baseline', 'progressive'].flatMap((p) => ['4:2:0', '4:2:2', '4:4:4'].map((s) => `jpeg ${p} ${s}`));
const photo = '/testdata/images/jpeg_large.jpg';

for (const name of ['chromium', 'firefox']) {
  test(`${name}: decoding by the browser`, async (t) => {
    const server = await serve();
    const browser = await launch(name);
    try {
      const page = await open(browser, `${server.url}/page.html`);
      for (const worker of [false, true]) {
        await t.test(`every JPEG file has the same result${worker ? ', in a Worker' : ''}`, async () => {
          assert.ok(paths.length > 600, `${paths.length} files`);
          const r = await call(page, module, 'files', { paths }, { worker });
          assert.deepEqual(r.different, []);
          t.diagnostic(`${r.byBrowser} of ${paths.length} files decoded by the browser; ${r.decoding.reason ?? Object.keys(r.decoding.kinds).length + ' kinds'}`);
          if (name === 'chromium') {
            for (const k of kinds.flatMap((k) => [k, `${k}, ICC profile`])) {
              const { way, equal, decoded, format } = r.decoding.kinds[k];
              assert.deepEqual([way, equal, decoded >= 3, format], ['browser', true, true, `I${/4:.:./.exec(k)[0].replaceAll(':', '')}`], k);
            }
            assert.ok(r.byBrowser > 200, `${r.byBrowser} files`);
          }
          if (!worker) console.table(r.decoding.kinds, ['way', 'samples', 'decoded', 'equal', 'format', 'browserMilliseconds', 'ownMilliseconds', 'reason']);
        });
      }
      await t.test('broken copies have the same result', async () => {
        const r = await call(page, module, 'mutated', { n: 3000, paths: ['base_420', 'prog_420', 'base_422', 'prog_444', 'restart_1b', 'restart_7b_prog', 'multiscan', 'base_444', 'q1_prog'].map((n) => `/testdata/images/jpeg_${n}.jpg`) });
        assert.deepEqual(r.different, []);
        t.diagnostic(`of 3000 broken copies the browser decoded ${r.byBrowser}; errors ${JSON.stringify(r.codes)}`);
        if (name === 'chromium') assert.ok(r.byBrowser > 500);
      });
      await t.test('other uses of files, and limits, do not reach the browser', async () => {
        for (const [k, v] of Object.entries(await call(page, module, 'excluded', { path: photo }))) assert.deepEqual(v, { equal: true, byBrowser: 0 }, k);
      });
      if (name === 'chromium') {
        await t.test('one wrong byte refuses a kind', async () => {
          const r = await call(page, module, 'wrong', { path: photo, format: 'I420' });
          const { way, equal, reason } = r.decoding.kinds['jpeg baseline 4:2:0'];
          assert.deepEqual([way, equal, reason], ['own', false, 'the browser decodes it to other bytes']);
          assert.equal(r.decoding.kinds['jpeg baseline 4:4:4'].way, 'browser');
          assert.deepEqual([r.same, r.byBrowser], [true, 0]);
        });
        await t.test('in a pool', async () => {
          const r = await call(page, module, 'pooled', { path: photo });
          assert.equal(r.decoding.kinds['jpeg baseline 4:2:0'].way, 'browser');
          assert.deepEqual([r.same, r.code], [true, undefined]);
        });
      }
      assert.deepEqual([server.violations, page.errors], [[], []]);
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
