import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { call, launch, open, serve } from './harness.mjs';

const golden = JSON.parse(await readFile(new URL('../../testdata/golden/codecs.json', import.meta.url))).images['png_rgb8.png'];

for (const name of ['chromium', 'firefox']) {
  test(`${name} decodes under the CSP`, async () => {
    const server = await serve();
    const browser = await launch(name);
    try {
      const page = await open(browser, `${server.url}/page.html`);
      for (const worker of [false, true]) {
        assert.deepEqual(await call(page, '/wasm/browser/smoke.mjs', 'decode', { image: '/testdata/images/png_rgb8.png', build: 'small', simd: true }, { worker }),
          { dims: [1, golden.height, golden.width, 3], digest: golden.rgb });
      }
      assert.deepEqual([server.violations, page.errors], [[], []]);
      assert.equal(await call(page, '/wasm/browser/page.mjs', 'evaluates'), false, 'the CSP takes effect');
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
