// Builds the JavaScript files of the package into dist, beside the WebAssembly
// files of build.sh, and into lib every module of src by itself, for tests.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { samples } from './scripts/samples.mjs';

const common = {
  bundle: true, format: 'esm', target: 'es2022', legalComments: 'none', logLevel: 'warning',
};
const alias = (platform) => ({ '#platform': `./src/${platform}.ts` });
const at = (path) => new URL(path, import.meta.url).pathname;
process.chdir(at('.'));

for (const f of await readdir('dist').catch(() => [])) if (/\.js$/.test(f)) await rm(`dist/${f}`);
await rm('lib', { recursive: true, force: true });
await mkdir('dist', { recursive: true });
await writeFile('dist/browser-samples.bin', samples());
const names = (await readdir('src')).filter((f) => f.endsWith('.ts')).map((f) => `src/${f}`);
/** errorsOf makes the entry graph use the error class of an index, so that instanceof knows its errors. */
const errorsOf = (index) => ({
  name: 'errors',
  setup: (b) => b.onResolve({ filter: /^\.\/errors\.js$/ }, () => ({ path: index, external: true })),
});
await Promise.all([
  build({ ...common, entryPoints: ['src/graph.ts'], outdir: 'dist', plugins: [errorsOf('./index.js')] }),
  build({ ...common, entryPoints: { 'graph.node': 'src/graph.ts' }, outdir: 'dist', plugins: [errorsOf('./index.node.js')] }),
  build({ ...common, entryPoints: ['src/presets.ts', 'src/microphone.ts', 'src/microphone-worklet.ts'], outdir: 'dist' }),
  build({ ...common, entryPoints: ['src/index.ts', 'src/worker.ts'], outdir: 'dist', alias: alias('platform') }),
  build({
    ...common, entryPoints: { 'index.node': 'src/index.ts', 'worker.node': 'src/worker.node.ts' }, outdir: 'dist',
    alias: alias('platform.node'), external: ['node:*'],
  }),
  build({ ...common, entryPoints: names, outdir: 'lib', splitting: true, alias: alias('platform.node'), external: ['node:*'] }),
]);
