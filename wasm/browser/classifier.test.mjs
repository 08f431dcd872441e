// A bundle with a model, from the file to the label, as Python has it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { call, launch, open, serve } from './harness.mjs';
import '../demo/build.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

for (const name of ['chromium', 'firefox']) {
  test(`${name}: the classifier's predictions are Python's`, async (t) => {
    const want = JSON.parse(await readFile(at('../../examples/classifier/expected.json')));
    const server = await serve({
      mounts: { '/demo/': at('../demo/dist/'), '/classifier/': at('../../examples/classifier/images/'), '/ort/': at('../node_modules/onnxruntime-web/dist/') },
    });
    const browser = await launch(name);
    try {
      const page = await open(browser, `${server.url}/page.html`);
      const images = Object.keys(want).map((f) => `/classifier/${f}`);
      const { results, labels } = await call(page, '/wasm/browser/classifier.mjs', 'predict', { bundle: '/demo/example.bundle', images });
      assert.equal(images.length, 12);
      let largest = 0;
      for (const [file, { sha256, logits, label }] of Object.entries(want)) {
        const got = results[`/classifier/${file}`];
        assert.equal(got.sha256, sha256, file);
        assert.equal(labels[got.logits.indexOf(Math.max(...got.logits))], label, file);
        got.logits.forEach((v, i) => { largest = Math.max(largest, Math.abs(v - logits[i]) / Math.max(1, Math.abs(logits[i]))); });
      }
      // Float sums in another order.
      assert.ok(largest < 1e-5, `outputs differ by ${largest}`);
      t.diagnostic(`12 of 12 tensors and labels equal Python's; outputs within ${largest.toExponential(1)}`);
      assert.deepEqual([server.violations, page.errors], [[], []]);
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
