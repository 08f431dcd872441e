import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { decode } from '../test/common.mjs';
import { call, launch, open, serve } from './harness.mjs';

const { rgb, width, height } = JSON.parse(await readFile(new URL('../../testdata/golden/codecs.json', import.meta.url))).images['png_rgb8.png'];

const refused = {
  'VideoFrame, closed': /input: .*VideoFrame has no pixels: it is empty, closed or transferred/,
  'ImageBitmap, closed': /input: .*ImageBitmap has no pixels: it is empty, closed or transferred/,
  'HTMLCanvasElement, empty': /input: .*HTMLCanvasElement has no pixels/,
  'HTMLVideoElement, empty': /input: .*HTMLVideoElement has no pixels/,
  'ImageData, detached': /input: .*detached/,
  'HTMLImageElement, missing': /input: .*none.png, cannot be fetched again \(Error: HTTP status 404\): pass the file as a Blob, or its pixels as ImageData/,
  HTMLDivElement: /input: .*a value of type HTMLDivElement: want a Blob/,
};

/** check compares each kind of input with the golden digest of the file. */
function check(result) {
  for (const [kind, got] of Object.entries(result)) {
    if (refused[kind]) assert.match(got, refused[kind], kind);
    else assert.equal(got, `${height},${width},3 ${rgb}`, kind);
  }
  for (const kind of ['Blob', 'VideoFrame', ...Object.keys(refused)]) assert.ok(kind in result, kind);
}

for (const name of ['chromium', 'firefox']) {
  test(`${name}: inputs of documents`, { timeout: 60_000 }, async () => {
    const server = await serve();
    const browser = await launch(name);
    try {
      const page = await open(browser, `${server.url}/page.html`);
      for (const pool of [false, true]) {
        const { result, alpha } = await call(page, '/wasm/browser/inputs.mjs', 'inputs',
          { graph: [...decode], photo: '/testdata/images/png_rgb8.png', alpha: [200, 100, 50, 255, 200, 100, 50, 1], pool });
        check(result);
        assert.deepEqual(alpha, [200, 100, 50, 200, 100, 50], 'transparent pixels keep their bits');
      }
      assert.deepEqual(server.violations, []);
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
