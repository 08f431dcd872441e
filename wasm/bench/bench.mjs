// Times infer-prep beside other ways to make a model's input in a browser:
// node bench.mjs PHOTOS. See bench/README.md.
import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { call, launch, open, serve } from '../browser/harness.mjs';
import { sound } from '../test/sounds.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const [photos] = process.argv.slice(2);
const rounds = Number(process.env.ROUNDS || 9);
if (!photos || !Number.isInteger(rounds) || rounds < 1) {
  console.error('usage: node bench.mjs PHOTOS   (ROUNDS=N)');
  process.exit(2);
}

const dist = at('dist/'), root = at('../..');
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await build({
  entryPoints: [at('page.mjs')], outdir: dist, bundle: true, format: 'esm', target: 'es2022', logLevel: 'error', outExtension: { '.js': '.mjs' },
  alias: { 'infer-prep': at('../dist/index.js'), 'infer-prep/presets': at('../dist/presets.js') },
  external: ['/modules/*', 'node:*', 'fs', 'path', 'url', 'sharp', 'onnxruntime-node'],
});
const python = execFileSync(join(root, 'parity/venv.sh'), [join(root, 'parity/requirements-extremes.txt')], { encoding: 'utf8', cwd: root }).trim();
execFileSync(python, [at('images.py'), photos, join(dist, 'images')], { stdio: 'inherit' });
// infer-prep's own tensors equal those of Pillow and torchvision: make parity shows it.
execFileSync(process.env.GO || 'go', ['run', './cmd/infer-prep', 'run', '--preset', 'imagenet', '--format', 'raw', '-o', join(dist, 'tensors'), join(dist, 'images')],
  { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

const isolated = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
const server = await serve({ mounts: { '/bench/': dist, '/modules/': at('node_modules/') }, policy: '', headers: isolated, cache: 'max-age=600' });
const browser = await launch('chromium');
try {
  const median = (l) => [...l].sort((a, b) => a - b)[l.length >> 1];
  console.log(`${await browser.version()}, medians of ${rounds} rounds; ratio to @jsquash/jpeg + resize; largest difference to Pillow in levels of 255`);
  const page = await open(browser, `${server.url}/page.html`);
  const missed = [];
  const peer = '@jsquash/jpeg + resize';
  for (const size of ['512x384', '1024x768', '1920x1440', '2592x1944', '4000x3000']) {
    const r = await call(page, '/bench/page.mjs', 'bench', {
      image: `/bench/images/${size}.jpg`, reference: `/bench/tensors/${size}.jpg.raw`, rounds,
    });
    console.log(size);
    const time = Object.fromEntries(Object.entries(r).map(([name, { times }]) => [name, median(times)]));
    for (const name of ['infer-prep, SIMD', 'infer-prep, browser decode', 'infer-prep, no SIMD']) if (!r[name].equal) missed.push(`${size}: ${name}: its bytes are not the reference's`);
    const goal = (name, most, other) => { if (!(time[name] <= most * time[other])) missed.push(`${size}: ${name}: ${(time[name] / time[other]).toFixed(2)}x the time of ${other}, the goal is at most ${most}`); };
    goal('infer-prep, SIMD', 1, peer);
    goal('infer-prep, browser decode', 0.6, peer);
    goal('infer-prep, SIMD', 1, 'transformers.js');
    for (const [name, { largest, equal }] of Object.entries(r)) {
      console.log(`  ${name.padEnd(28)} ${time[name].toFixed(1).padStart(7)} ms  ${(time[name] / time[peer]).toFixed(2).padStart(5)}  ${String(largest).padStart(3)}${equal ? ', every byte equal' : ''}`);
    }
  }
  // The time of a second of sound.
  const s = await call(page, '/wasm/browser/sound.mjs', 'listen', { config: { feature_extractor_type: 'WhisperFeatureExtractor' }, samples: [...sound('speech', 24_064)], blocks: [] });
  console.log(`Whisper's features of 30 s of 16 kHz, real-time factor: ${s.factor.toFixed(5)} whole, ${s.streamed.toFixed(5)} in blocks of 1024 samples`);
  console.log(missed.length === 0 ? 'goals: met' : `goals missed:\n${missed.join('\n')}`);
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  await browser.close();
  await server.close();
}
