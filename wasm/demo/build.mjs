// Builds the demo page into demo/dist: the page, the package's WebAssembly
// files, onnxruntime-web's, and an example bundle of examples/classifier.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const example = at('../../examples/classifier/');
const out = at('dist/');

await rm(out, { recursive: true, force: true });
await mkdir(`${out}ort`, { recursive: true });
await build({
  entryPoints: [at('src/main.ts'), at('src/sound.ts')], outdir: out, bundle: true, splitting: true, format: 'esm', target: 'es2022', logLevel: 'warning',
  alias: { 'infer-prep': at('../dist/index.js'), 'infer-prep/graph': at('../dist/graph.js'), 'infer-prep/presets': at('../dist/presets.js'), 'infer-prep/microphone': at('../dist/microphone.js') },
});
for (const f of ['index.html', 'sound.html', 'style.css', 'icon.svg']) await cp(at(f), out + f);
for (const f of ['infer-prep-full.wasm', 'infer-prep-full-simd.wasm', 'browser-samples.bin', 'microphone-worklet.js']) await cp(at(`../dist/${f}`), out + f);
for (const f of ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm']) {
  await cp(at(`../node_modules/onnxruntime-web/dist/${f}`), `${out}ort/${f}`);
}
await cp(`${example}images/00.jpg`, `${out}example.jpg`);
execFileSync('go', ['run', './cmd/infer-prep', 'bundle', 'create', '--torchvision', `${example}transforms.json`, '--model', `${example}model.onnx`,
  '--labels', `${example}labels.txt`, '--golden', `${example}images`, '--expect', `${example}tensors`, '-o', `${out}example.bundle`],
{ cwd: at('../..'), stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, GOOS: '', GOARCH: '' } });
