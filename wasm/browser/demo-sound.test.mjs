// The demo page of sounds in Chromium, whose microphone is a fake one that beeps.
import assert from 'node:assert/strict';
import { readFile, writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { goldens, sound } from '../test/sounds.mjs';
import { launch, open, serve } from './harness.mjs';
import '../demo/build.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const axe = await readFile(at('../node_modules/axe-core/axe.min.js'), 'utf8');

/** wav returns a file of samples of 16 bits. */
function wav(samples, rate) {
  const b = Buffer.alloc(44 + 2 * samples.length);
  b.write('RIFF');
  b.writeUInt32LE(b.length - 8, 4);
  b.write('WAVEfmt ', 8);
  b.writeUInt32LE(16, 16);
  b.writeUInt16LE(1, 20);
  b.writeUInt16LE(1, 22);
  b.writeUInt32LE(rate, 24);
  b.writeUInt32LE(2 * rate, 28);
  b.writeUInt16LE(2, 32);
  b.writeUInt16LE(16, 34);
  b.write('data', 36);
  b.writeUInt32LE(2 * samples.length, 40);
  samples.forEach((v, i) => b.writeInt16LE(v, 44 + 2 * i));
  return b;
}

test('the demo page of sounds', { timeout: 300_000 }, async (t) => {
  const server = await serve({ mounts: { '/demo/': at('../demo/dist/') } });
  const browser = await launch('chromium', { args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'] });
  const dir = await mkdtemp(join(tmpdir(), 'demo'));
  const done = async (page, pattern) => {
    await page.waitForFunction((source) => new RegExp(source).test(document.getElementById('status').textContent), { timeout: 120_000 }, pattern.source)
      .catch(async (e) => { throw new Error(`${e.message}: ${await page.$eval('main', (m) => m.innerText)} ${page.errors} ${server.violations}`); });
  };
  const text = (page, selector) => page.$eval(selector, (e) => e.textContent.trim());
  const drawn = (page, id) => page.$eval(id, (c) => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size);
  try {
    const page = await open(browser, `${server.url}/demo/sound.html`);
    await page.setViewport({ width: 1280, height: 900 });
    await done(page, /^Choose a sound/);
    const upload = async (name, data) => {
      await writeFile(join(dir, name), data);
      await (await page.$('#sound-file')).uploadFile(join(dir, name));
    };

    await t.test("has transformers' features of a file", async () => {
      const golden = (await goldens()).find((c) => JSON.stringify(c.config) === '{"feature_extractor_type":"WhisperFeatureExtractor"}')
        .results.find((r) => r.sound === 'speech' && r.samples > 8000 && !r.refused);
      await upload('speech.wav', wav(sound('speech', golden.samples), 16_000));
      await done(page, /^speech\.wav: .* frames of 80 mels$/);
      assert.equal(await text(page, '#digest'), golden.outputs.input_features.sha256);
      assert.match(await text(page, '#features-text'), /80 × 3000\. The stream of blocks has the bytes of the whole sound\./);
      assert.ok(await drawn(page, '#wave') > 1);
      assert.ok(await drawn(page, '#mel') > 100);
      t.diagnostic(await text(page, '#times'));
    });

    await t.test('reads other files by the browser, and says what is wrong with a file', async () => {
      await upload('other.wav', wav(sound('speech', 22_050), 44_100));
      await done(page, /^other\.wav, decoded by the browser: 0\.50 s/);
      await upload('note.wav', 'not a sound');
      await done(page, /^The last action failed/);
      assert.match(await text(page, '#error'), /unknown format, first bytes "not a sound".*\(format\)/);
    });

    await t.test('hears the microphone', async () => {
      await page.click('#microphone');
      await done(page, /^Listening/);
      await page.waitForFunction(() => Number.parseFloat(document.getElementById('caption').textContent) > 1, { timeout: 60_000 });
      await page.click('#stop');
      await done(page, /^microphone: .* frames of 80 mels$/);
      assert.match(await text(page, '#features-text'), /The stream of blocks has the bytes of the whole sound\./);
      assert.equal(await page.$eval('#error', (e) => e.hidden), true);
    });

    for (const scheme of ['light', 'dark']) {
      await t.test(`is accessible, ${scheme}`, async () => {
        await page.setViewport({ width: 360, height: 900 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window');
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.map((n) => n.target)}`), []);
      });
    }
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true });
    assert.deepEqual([server.violations, page.errors], [[], []]);
  } finally {
    await browser.close();
    await server.close();
    await rm(dir, { recursive: true, force: true });
  }
});
