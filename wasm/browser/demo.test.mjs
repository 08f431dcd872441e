// The demo page in Chromium. SCREENSHOT names the file of the screenshot.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch, open, serve } from './harness.mjs';
import '../demo/build.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const classifier = at('../../examples/classifier/');
const axe = await readFile(at('../node_modules/axe-core/axe.min.js'), 'utf8');

/** done waits until the page has shown the results of what it was told, and returns the status. */
const done = async (page, pattern) => {
  await page.waitForFunction((source) => new RegExp(source).test(document.getElementById('status').textContent), { timeout: 60_000 }, pattern.source);
  return page.$eval('#status', (e) => e.textContent);
};
const text = (page, selector) => page.$eval(selector, (e) => e.textContent.trim());
const texts = (page, selector) => page.$$eval(selector, (l) => l.map((e) => e.textContent.trim()));
const upload = async (page, selector, file) => (await page.$(selector)).uploadFile(file);

/** npy returns the float32 elements of a file of NumPy. */
async function npy(path) {
  const b = await readFile(path);
  return new Float32Array(b.buffer.slice(b.byteOffset + 10 + b.readUInt16LE(8), b.byteOffset + b.length));
}

test('the demo page', async (t) => {
  const server = await serve({ mounts: { '/demo/': at('../demo/dist/') } });
  const browser = await launch('chromium', { args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] });
  const dir = await mkdtemp(join(tmpdir(), 'demo'));
  try {
    const page = await open(browser, `${server.url}/demo/index.html`);
    await page.setViewport({ width: 1280, height: 900 });
    await done(page, /^example\.jpg: image float32 CHW, 1 × 3 × 40 × 40$/);

    await t.test('shows labels, steps, the tensor, and the canvas\'s difference', async () => {
      assert.match((await texts(page, '#label-list li'))[0], /^red circle\s*100\.00 %$/);
      assert.deepEqual(await texts(page, '#step-list figcaption strong'), ['1. decode', '2. resize', '3. center_crop', '4. to_tensor', '5. normalize']);
      const want = await npy(`${classifier}tensors/00.npy`);
      const cells = (await page.$$eval('#figures tr', (l) => l.map((r) => [...r.cells].map((c) => c.textContent))));
      assert.equal(cells.length, 3);
      cells.forEach(([name, least, largest, mean], c) => {
        const p = want.subarray(c * 1600, (c + 1) * 1600);
        assert.deepEqual([name, least, largest, mean].map(Number), [c, Math.min(...p), Math.max(...p), p.reduce((a, b) => a + b, 0) / 1600].map((v) => Number(v.toPrecision(4))));
      });
      await page.$eval('#row', (e) => { e.value = '5'; e.dispatchEvent(new Event('input')); });
      await page.$eval('#column', (e) => { e.value = '7'; e.dispatchEvent(new Event('input')); });
      assert.equal(await text(page, '#value'), [0, 1, 2].map((c) => Number(want[c * 1600 + 5 * 40 + 7].toPrecision(8))).join(', '));
      const map = await page.$('#heat canvas');
      await map.scrollIntoView();
      const box = await map.boundingBox();
      await page.mouse.move(box.x + box.width * 20.5 / 40, box.y + box.height * 30.5 / 40);
      assert.equal(await text(page, '#value'), [0, 1, 2].map((c) => Number(want[c * 1600 + 30 * 40 + 20].toPrecision(8))).join(', '));
      const [, largest, share] = /Largest difference (\d+) of 255 levels, mean [\d.]+; ([\d.]+) % of all values differ/.exec(await text(page, '#canvas-figures'));
      assert.ok(largest > 5 && share > 10, `the canvas differs by ${largest}, in ${share} % of the values`);
      assert.equal((await texts(page, '#times tr')).length, 3);
      // The pictures show the tensors: one pixel of the crop, against Python's.
      const pixel = await page.$eval('#step-list li:nth-child(3) canvas', (c) => [...c.getContext('2d').getImageData(7, 5, 1, 1).data]);
      const mean = [0.485, 0.456, 0.406], std = [0.229, 0.224, 0.225];
      assert.deepEqual(pixel, [...[0, 1, 2].map((c) => Math.round((want[c * 1600 + 5 * 40 + 7] * std[c] + mean[c]) * 255)), 255]);
      await page.evaluate(() => { scrollTo(0, 0); });
      const path = process.env.SCREENSHOT ?? at('../demo/dist/screenshot.png');
      await page.screenshot({ path, fullPage: true });
      for (const file of [path, at('../../docs/demo.png')]) {
        const png = await readFile(file);
        assert.equal(png.readUInt32BE(16), 1280, `the width of ${file}`);
        assert.ok(png.length < 500_000, `${file} has ${png.length} bytes`);
      }
    });

    await t.test('has Python\'s tensor and label for every image', async () => {
      const want = JSON.parse(await readFile(`${classifier}expected.json`));
      for (const [name, { sha256, label, logits }] of Object.entries(want)) {
        await upload(page, '#image-file', `${classifier}images/${name}`);
        await done(page, new RegExp(`^${name.replace('.', '\\.')}: image`));
        assert.equal(await text(page, '#digest'), sha256, name);
        const [best, value] = await page.$eval('#label-list li', (e) => [e.firstElementChild.textContent, Number(e.dataset.value)]);
        assert.equal(best, label, name);
        assert.ok(Math.abs(value - Math.max(...logits)) < 1e-5 * Math.max(1, ...logits), `${name}: ${value}`);
      }
      assert.equal(Object.keys(want).length, 12);
    });

    await t.test('shows a file\'s own pixels, by each preset\'s steps', async () => {
      const golden = JSON.parse(await readFile(at('../../testdata/golden/codecs.json'))).images['png_rgb8.png'];
      await page.select('#graph', await page.$eval('#graph', (s) => [...s.options].find((o) => o.text === 'Preset decode').value));
      await upload(page, '#image-file', at('../../testdata/images/png_rgb8.png'));
      await done(page, new RegExp(`^png_rgb8\\.png: .* ${golden.height} × ${golden.width} × 3$`));
      assert.equal(await text(page, '#digest'), golden.rgb);
      const drawn = await page.$eval('#step-list canvas', (c) => [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]);
      const rgb = Uint8Array.from(drawn.filter((_, i) => i % 4 !== 3));
      assert.equal(createHash('sha256').update(rgb).digest('hex'), golden.rgb);
    });

    await t.test('takes presets, files and the camera', async () => {
      await page.select('#graph', await page.$eval('#graph', (s) => [...s.options].find((o) => o.text === 'Preset clip').value));
      assert.match(await done(page, /224 × 224/), /pixel_values float32 CHW, 1 × 3 × 224 × 224/);
      assert.equal(await page.$eval('#labels', (e) => e.hidden), true);
      await upload(page, '#image-file', at('../../testdata/images/png_rgba8.png'));
      await done(page, /^png_rgba8\.png: pixel_values/);
      await writeFile(join(dir, 'graph.json'), JSON.stringify({
        infer_prep_graph: 1, inputs: [{ name: 'image', dtype: 'bytes', layout: 'none', shape: [] }],
        steps: [{ op: 'decode', version: 1, in: ['image'], out: ['pixels'], params: { color: 'gray', alpha: 'drop', gray16: 'clip', refuse: [], orientation: 'ignore', damage: 'pillow', scale: 'full' } }],
        outputs: ['pixels'],
      }));
      await upload(page, '#graph-file', join(dir, 'graph.json'));
      assert.match(await done(page, /pixels uint8 HWC/), /× 1$/);
      assert.match(await text(page, '#canvas-figures'), /does not compare/);
      await page.click('#camera');
      await page.waitForFunction(() => document.getElementById('video').videoWidth > 0);
      await page.click('#shoot');
      await done(page, /^camera: pixels uint8 HWC/);
      await upload(page, '#graph-file', at('../demo/dist/example.bundle'));
      await done(page, /^camera: image float32/);
      assert.equal((await texts(page, '#label-list li')).length, 4);
    });

    await t.test('takes dropped files', async () => {
      await page.evaluate(async () => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([await (await fetch('example.jpg')).blob()], 'dropped.jpg'));
        document.getElementById('drop').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      });
      await done(page, /^dropped\.jpg: image float32/);
    });

    await t.test('says what is wrong with a file, and goes on', async () => {
      for (const [input, name, data, message] of [
        ['#image-file', 'note.txt', 'not an image', /unknown format, first bytes "not an image".*\(format\)/],
        ['#image-file', 'cut.jpg', (await readFile(`${classifier}images/01.jpg`)).subarray(0, 300), /jpeg.*\(format\)/],
        ['#graph-file', 'graph.json', '{"steps": 1}', /./],
        ['#graph-file', 'net.bundle', 'IPbundle, but not more', /bundle.*\(graph\)/],
      ]) {
        await writeFile(join(dir, name), data);
        await upload(page, input, join(dir, name));
        await page.waitForFunction(() => !document.getElementById('error').hidden);
        assert.match(await text(page, '#error'), message);
        // No results of an earlier image stay beside a wrong one; a wrong graph leaves the earlier one.
        assert.equal(await page.$eval('#tensor', (e) => e.hidden), input === '#image-file');
        assert.equal(await page.$eval('#graph', (s) => s.selectedOptions[0].text), 'example.bundle');
        await upload(page, '#image-file', `${classifier}images/01.jpg`);
        await done(page, /^01\.jpg: /);
        assert.equal(await page.$eval('#error', (e) => e.hidden), true);
        assert.match((await texts(page, '#label-list li'))[0], /^blue circle/);
      }
    });

    await t.test('works with the keyboard', async () => {
      await page.evaluate(() => { document.activeElement?.blur(); });
      const reached = [];
      for (let i = 0; i < 20; i++) {
        await page.keyboard.press('Tab');
        reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
      }
      for (const id of ['pick-image', 'camera', 'graph', 'pick-graph', 'step-list', 'scroll', 'row', 'column']) assert.ok(reached.includes(id), `${id} in ${reached}`);
      await page.focus('#graph');
      await page.keyboard.press('Home');
      await done(page, /^01\.jpg: image float32 CHW, 1 × 3 × 40 × 40$/);
      await page.focus('#row');
      const before = await text(page, '#value');
      await page.keyboard.press('ArrowUp');
      assert.notEqual(await text(page, '#value'), before);
    });

    for (const scheme of ['light', 'dark']) {
      for (const width of [360, 1280]) {
        await t.test(`is accessible, ${scheme}, ${width} pixels wide`, async () => {
          await page.setViewport({ width, height: 900 });
          await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');
          await page.evaluate(axe);
          const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
          assert.ok(passes.length > 20, `${passes.length} rules`);
          assert.deepEqual(violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.map((n) => n.target)}`), []);
        });
      }
    }
    assert.deepEqual([server.violations, page.errors], [[], []]);
  } finally {
    await browser.close();
    await server.close();
    await rm(dir, { recursive: true, force: true });
  }
});
