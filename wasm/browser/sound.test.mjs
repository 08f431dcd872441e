import assert from 'node:assert/strict';
import test from 'node:test';
import { goldens, sound } from '../test/sounds.mjs';
import { call, launch, open, serve } from './harness.mjs';

const config = { feature_extractor_type: 'WhisperFeatureExtractor' };

for (const name of ['chromium', 'firefox']) {
  test(`${name}: a microphone's worklet`, { timeout: 120_000 }, async (t) => {
    const server = await serve();
    const browser = await launch(name);
    try {
      const page = await open(browser, `${server.url}/page.html`);
      // Whole blocks of 128 samples: browsers render no fewer.
      const golden = (await goldens()).find((c) => Object.keys(c.config).length === 1 && c.config.feature_extractor_type === config.feature_extractor_type)
        .results.find((r) => r.sound === 'speech' && r.samples % 128 === 0 && r.samples > 0 && !r.refused);
      const samples = [...sound('speech', golden?.samples ?? 24_064)];
      const r = await call(page, '/wasm/browser/sound.mjs', 'listen', { config, samples, blocks: [128, 1000, 4096] });
      if (golden) assert.equal(r.whole, golden.outputs.input_features.sha256);
      assert.equal(r.audioBuffer, r.whole);
      for (const [size, s] of Object.entries(r.streams)) {
        assert.equal(s.digest, r.whole, size);
        assert.ok(s.sizes.includes(Number(size)), `${size}: ${s.sizes}`);
      }
      assert.deepEqual([page.errors, server.violations], [[], []]);
      t.diagnostic(`Whisper's features of 30 s, real-time factor: ${r.factor.toFixed(5)} whole, ${r.streamed.toFixed(5)} in blocks of 1024 samples`);
    } finally {
      await browser.close();
      await server.close();
    }
  });
}
