// Sounds in the full build: files, samples and streams, beside the goldens of
// transformers' feature extractors.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { createPool, init } from 'infer-prep';
import { imagenet } from 'infer-prep/presets';
import { rejects } from './common.mjs';
import { digest, floats, goldens, sound, streamed } from './sounds.mjs';

const whisper = { feature_extractor_type: 'WhisperFeatureExtractor' };
const lasr = { feature_extractor_type: 'LasrFeatureExtractor' };
const throws = (f, code, text) => rejects((async () => f())(), code, text);
/** finite replaces numbers that JSON does not have, as the goldens do. */
const finite = (t) => {
  if (t.data instanceof Float32Array) t.data.forEach((v, i) => { t.data[i] = Number.isNaN(v) ? 3e38 : Math.max(-2e38, Math.min(v, 2e38)); });
};
const bytes = (graph) => new TextEncoder().encode(JSON.stringify(graph));

/** deal returns numbers below n, the same in every run. */
function deal() {
  let state = 1;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

test("transformers' feature extractors: runs and streams have the reference's bytes", async (t) => {
  const prep = await init({ build: 'full', simd: true });
  const random = deal(), sizes = [() => 128, () => 1 + random(2000), () => 1 + random(200), () => 20_000];
  let equal = 0, streams = 0, refused = 0;
  for (const { config, results } of await goldens()) {
    const graph = await prep.fromHF(config, { backend: 'samples' });
    const rate = rateOf(config);
    for (const r of results) {
      const x = floats(r.sound, r.samples);
      const input = { type: 'float32', data: x, dims: [x.length] };
      if (r.refused) {
        await rejects(graph.run(input), 'input', /./);
        refused++;
        continue;
      }
      const check = (outputs, what) => {
        for (const [name, want] of Object.entries(r.outputs)) {
          finite(outputs[name]);
          assert.equal(digest(outputs[name]), want.sha256, `${what} ${name} of ${r.samples} ${r.sound}: ${JSON.stringify(config)}`);
        }
      };
      check((await graph.run(input, { batch: false })).outputs, 'run');
      equal++;
      if (r.samples > 48_000 || equal % 2) continue;
      check(streamed(await graph.stream({ samplingRate: rate }), x, sizes[streams % sizes.length]), 'stream');
      streams++;
    }
    graph.dispose();
  }
  t.diagnostic(`${equal} sounds are equal, ${streams} of them as streams, too; ${refused} are refused as in the reference`);
  assert.ok(streams > 100);
  prep.dispose();
});

/** rateOf returns the rate of a configuration. */
function rateOf(c) {
  return c.sampling_rate ?? { ClapFeatureExtractor: 48_000, ClvpFeatureExtractor: 22_050, UnivNetFeatureExtractor: 24_000 }[c.feature_extractor_type] ?? 16_000;
}

test('files, samples and streams of one sound are equal', async () => {
  const prep = await init({ build: 'full', simd: true });
  const graph = await prep.fromHF(whisper);
  assert.equal(graph.inputs[0].type, 'bytes');
  const whole = sound('speech', 16_000), want = digest(await graph.run({ data: whole, samplingRate: 16_000 }));
  assert.equal(digest(await graph.run({ data: floats('speech', 16_000), samplingRate: 16_000 })), want);
  // As two equal channels, whose mean they are.
  const both = Int16Array.from({ length: 32_000 }, (_, i) => whole[i >> 1]);
  assert.equal(digest(await graph.run({ data: both, samplingRate: 16_000, channels: 2 })), want);
  const stereo = await graph.stream({ samplingRate: 16_000, channels: 2 });
  assert.deepEqual(stereo.axes, { input_features: -1 });
  const all = streamed(stereo, both, () => 256);
  assert.deepEqual(all.input_features.dims, [80, 3000]);
  assert.equal(digest(all.input_features), want);
  const pool = await createPool({ build: 'full', simd: true, workers: 1 });
  const remote = await pool.fromHF(whisper);
  assert.equal(digest(await remote.run({ data: whole, samplingRate: 16_000 })), want);
  await rejects(remote.stream({ samplingRate: 16_000 }), 'unsupported', /pools have no streams; use init/);
  pool.dispose();

  // Frames of a graph without a step for the whole sound come at once.
  const frames = await (await prep.fromHF(lasr)).stream({ samplingRate: 16_000 });
  assert.deepEqual(frames.axes, { input_features: 0 });
  assert.deepEqual(frames.push(whole.subarray(0, 399)), {});
  assert.deepEqual(frames.push(whole.subarray(399, 560)).input_features.dims, [2, 128]);
  assert.deepEqual(frames.end().input_features.dims, [0, 128]);
  throws(() => frames.push(whole), 'disposed', /the sound was ended/);
  prep.dispose();
});

test("files of sounds: libsndfile's samples", async (t) => {
  const prep = await init({ build: 'full', simd: true });
  let equal = 0;
  for (const format of ['wav', 'flac']) {
    for (const c of JSON.parse(await readFile(new URL(`../../sound/${format}/testdata/cases.json`, import.meta.url), 'utf8'))) {
      if (c.error) continue;
      const graph = await prep.graph(bytes({
        infer_prep_graph: 1, inputs: [{ name: 'sound', dtype: 'bytes', layout: 'none', shape: [] }], outputs: ['sound'],
        steps: [{ op: 'decode_sound', version: 1, in: ['sound'], out: ['sound'], params: { sampling_rate: c.rate } }],
      }));
      const out = await graph.run(Buffer.from(c.file, 'base64'), { batch: false }).catch((e) => e);
      if (!out.dims) continue; // treated otherwise than by libsndfile; the Go tests list those
      assert.deepEqual(out.dims, [c.channels, c.samples], c.name);
      assert.equal(digest(out), c.sha256, c.name);
      equal++;
      graph.dispose();
    }
  }
  t.diagnostic(`${equal} files are equal`);
  assert.ok(equal > 50, String(equal));
  prep.dispose();
});

test('bundles of speech models: golden sounds as files, samples and streams', async () => {
  const prep = await init({ build: 'full', simd: true });
  for (const name of ['wav2vec2', 'whisper']) {
    const bundle = await prep.open(await readFile(new URL(`../../testdata/bundle/${name}.bundle`, import.meta.url)));
    await bundle.verify();
    const file = await readFile(new URL('../../testdata/speech/sounds/speech.wav', import.meta.url));
    const want = await bundle.run(file, { batch: false });
    const data = new Int16Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + file.length));
    assert.equal(digest(await bundle.run({ data, samplingRate: 16_000 })), digest(want));
    const [output] = Object.values(streamed(await bundle.graph.stream({ samplingRate: 16_000 }), data, () => 128));
    assert.deepEqual([output.dims, digest(output)], [want.dims, digest(want)]);
    bundle.dispose();
  }
  prep.dispose();
});

test('wrong sounds', async () => {
  const prep = await init({ build: 'full', simd: true });
  const graph = await prep.fromHF(whisper);
  const x = floats('noise', 1000);
  await rejects(graph.run({ data: x, samplingRate: 8000 }), 'unsupported', /8000 Hz.*16000/);
  await rejects(graph.run({ data: x, samplingRate: 0 }), 'input', /a samplingRate of 0: want a whole number/);
  await rejects(graph.run({ data: x, samplingRate: 16_000, channels: 3 }), 'input', /1000 numbers: want a multiple of the channels, 3/);
  await rejects(graph.run({ data: [1, 2], samplingRate: 16_000 }), 'input', /buffer is detached|want a Float32Array/);
  await rejects(graph.stream({ samplingRate: 8000 }), 'input', /a sampling rate of 8000 Hz, want 16000 Hz/);
  await rejects(graph.stream({ samplingRate: 16_000, channels: 0 }), 'input', /channels is 0/);
  const stream = await graph.stream({ samplingRate: 16_000 });
  throws(() => stream.push(new Float64Array(3)), 'input', /want a Float32Array or an Int16Array/);
  const stereo = await graph.stream({ samplingRate: 16_000, channels: 2 });
  await throws(() => stereo.push(x.subarray(0, 3)), 'input', /12 bytes, want a multiple of 8/);
  await throws(() => stereo.push(x.subarray(0, 4)), 'input', /want a multiple of 8/); // the same error again
  await rejects((await prep.graph(imagenet)).stream({ samplingRate: 16_000 }), 'unsupported', /want a graph of samples/);
  const small = await init();
  await rejects((await small.graph(imagenet)).stream({ samplingRate: 16_000 }), 'unsupported', /init\({ build: 'full' }\)/);
  small.dispose();
  prep.dispose();
});
