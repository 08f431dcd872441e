// The package as npm packs it: its files, its use in node, its types, and its
// use by bundlers, whose output runs in Chromium under the package's CSP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import * as vite from 'vite';
import webpack from 'webpack';
import { launch, open, serve } from '../browser/harness.mjs';
import { decode, image } from './common.mjs';
import { decode as run } from './consumer.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const exec = async (command, args, cwd) => (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 24 })).stdout;

const photo = 'jpeg_base_420.jpg';
let project; // an empty project with the package
let packed; // what npm says about the tarball
let expected; // the consumer's results here

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'infer-prep-'));
  [packed] = JSON.parse(await exec('npm', ['pack', '--json', '--silent', '--pack-destination', project], root));
  await writeFile(join(project, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n');
  await exec('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', join(project, packed.filename)], project);
  await cp(join(root, 'test/consumer.mjs'), join(project, 'consumer.mjs'));
  await cp(fileURLToPath(new URL(`../../testdata/images/${photo}`, import.meta.url)), join(project, 'photo.jpg'));
  await writeFile(join(project, 'graph.msgp'), decode);
  await writeFile(join(project, 'page.mjs'), `
    import { decode } from './consumer.mjs';
    const body = async (path) => (await fetch(path)).blob();
    window.decoded = (async () => decode(await (await body('/data/graph.msgp')).arrayBuffer(), await body('/data/photo.jpg')))();
  `);
  await writeFile(join(project, 'node.mjs'), `
    import { readFile } from 'node:fs/promises';
    import { decode } from './consumer.mjs';
    const [graph, photo] = process.argv.slice(2);
    console.log(JSON.stringify(await decode(await readFile(graph), await readFile(photo))));
  `);
  await writeFile(join(project, 'index.html'), '<!doctype html><title>consumer</title><link rel="icon" href="/none.svg"><script type="module" src="./page.mjs"></script>\n');
  expected = await run(decode, await image(photo));
  assert.equal(expected[0], expected[1]);
});

after(() => rm(project, { recursive: true, force: true }));

const inNode = async (file) => JSON.parse(await exec(process.execPath, [file, join(project, 'graph.msgp'), join(project, 'photo.jpg')], project));

/** inChromium opens a page of a folder and returns what it decoded. */
async function inChromium(folder, page) {
  const server = await serve({ mounts: { '/app/': folder, '/data/': project } });
  const browser = await launch('chromium');
  try {
    const tab = await open(browser, `${server.url}/app/${page}`);
    await tab.waitForFunction(() => 'decoded' in window, { timeout: 30_000 }).catch((e) => { throw new Error(`${e.message}: ${tab.errors} ${server.violations}`); });
    const decoded = await tab.evaluate(async () => window.decoded).catch((e) => e);
    assert.deepEqual([tab.errors, server.violations], [[], []]);
    return decoded;
  } finally {
    await browser.close();
    await server.close();
  }
}

/** copyWasm copies the files that a bundle loads beside it, as the README says. */
async function copyWasm(to) {
  const from = join(project, 'node_modules/infer-prep/dist');
  for (const f of await readdir(from)) if (/\.(wasm|bin)$/.test(f)) await cp(join(from, f), join(to, f));
}

const html = (folder, ...scripts) => writeFile(join(folder, 'index.html'), '<!doctype html><title>consumer</title><link rel="icon" href="/none.svg">' +
  scripts.map((f) => `<script type="module" src="${f}"></script>\n`).join(''));

test('npm pack takes the files that the package needs', async () => {
  const names = packed.files.map((f) => f.path);
  const wasm = ['infer-prep', 'infer-prep-simd', 'infer-prep-full', 'infer-prep-full-simd'].map((f) => `dist/${f}.wasm`);
  const want = ['LICENSE', 'README.md', 'package.json', 'dist/browser-samples.bin', ...wasm, ...['index', 'index.node', 'worker', 'worker.node', 'graph', 'graph.node', 'presets', 'microphone', 'microphone-worklet'].map((f) => `dist/${f}.js`)];
  const licenses = names.filter((n) => n.startsWith('dist/licenses/'));
  assert.ok(licenses.includes('dist/licenses/go/LICENSE'));
  assert.deepEqual(names.filter((n) => !n.endsWith('.d.ts') && !licenses.includes(n)).sort(), want.sort());
  assert.ok(names.includes('dist/index.d.ts'));
  assert.equal(packed.version, (await readFile(new URL('../../internal/version/VERSION', import.meta.url), 'utf8')).trim());
  assert.deepEqual(await readFile(join(root, 'LICENSE')), await readFile(new URL('../../LICENSE', import.meta.url)));
  console.log(`npm pack: ${names.length} files, ${packed.size} bytes, ${packed.unpackedSize} unpacked`);
});

test('npm pack refuses a package that is not built', async () => {
  const unbuilt = join(project, 'unbuilt');
  for (const f of ['package.json', 'README.md', 'LICENSE', '.npmrc', 'scripts']) await cp(join(root, f), join(unbuilt, f), { recursive: true });
  await assert.rejects(exec('npm', ['pack'], unbuilt), /the package is not built: \d+ of its files are missing.*npm run build/s);
  assert.ok(!(await readdir(unbuilt)).some((f) => f.endsWith('.tgz')));
});

test('node', async () => { assert.deepEqual(await inNode('node.mjs'), expected); });

const readme = await readFile(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map((m) => m[1]);

test("the README's first example, in Chromium with onnxruntime-web", async () => {
  const out = join(project, 'readme'), classifier = fileURLToPath(new URL('../../examples/classifier/', import.meta.url));
  await mkdir(out);
  await exec('go', ['run', '../../cmd/infer-prep', 'bundle', 'create', '--torchvision', 'transforms.json', '--model', 'model.onnx',
    '--labels', 'labels.txt', '--golden', 'images', '--expect', 'tensors', '-o', join(out, 'classifier.bundle')], classifier);
  const images = JSON.parse(await readFile(join(classifier, 'expected.json'), 'utf8'));
  await writeFile(join(project, 'example.mjs'), blocks[0]);
  assert.ok(blocks[0].split('\n').filter(Boolean).length <= 10, 'ten lines');
  await esbuild.build({
    absWorkingDir: project, entryPoints: { page: './example.mjs' }, bundle: true, format: 'esm', outdir: out,
    nodePaths: [join(root, 'node_modules')], logLevel: 'error',
  });
  await copyWasm(out);
  const ort = join(root, 'node_modules/onnxruntime-web/dist');
  for (const f of await readdir(ort)) if (/^ort-wasm-simd-threaded\.(wasm|mjs)$/.test(f)) await cp(join(ort, f), join(out, f));
  await writeFile(join(out, 'printed.js'), 'console.log = (text) => { window.decoded = text; };\n');
  await html(out, './printed.js', './page.js');
  for (const name of ['00.jpg', '05.jpg']) {
    await cp(join(classifier, 'images', name), join(out, 'photo.jpg'));
    assert.equal(await inChromium(out, 'index.html'), images[name].label);
  }
});

test("the README's example for node, as printed", async () => {
  const folder = join(project, 'readme-node');
  await mkdir(folder);
  await writeFile(join(folder, 'example.mjs'), blocks[1]);
  await cp(fileURLToPath(new URL('../../testdata/images/jpeg_large.jpg', import.meta.url)), join(folder, 'photo.jpg'));
  assert.equal(await exec(process.execPath, ['example.mjs'], folder), /^```text\n(.*?)^```$/ms.exec(readme)[1]);
});

test('a page without a bundler', async () => {
  await writeFile(join(project, 'native.mjs'), (await readFile(join(project, 'page.mjs'), 'utf8')).replace('./consumer.mjs', './native-consumer.mjs'));
  await writeFile(join(project, 'native-consumer.mjs'),
    (await readFile(join(project, 'consumer.mjs'), 'utf8')).replace("'infer-prep'", "'./node_modules/infer-prep/dist/index.js'"));
  await writeFile(join(project, 'native.html'), '<!doctype html><title>consumer</title><link rel="icon" href="/none.svg"><script type="module" src="./native.mjs"></script>\n');
  assert.deepEqual(await inChromium(project, 'native.html'), expected);
});

test('Vite', async () => {
  const out = join(project, 'vite');
  await vite.build({ root: project, base: './', configFile: false, logLevel: 'error', build: { outDir: out, emptyOutDir: true, reportCompressedSize: false } });
  assert.deepEqual(await inChromium(out, 'index.html'), expected);
});

/** pack runs webpack and fails on its warnings. */
async function pack(config) {
  const stats = await promisify(webpack)({ mode: 'production', context: project, performance: false, ...config });
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  assert.deepEqual([errors, warnings], [[], []]);
}

test('webpack', async () => {
  const out = join(project, 'webpack');
  await pack({ entry: './page.mjs', output: { path: out, filename: 'page.js' } });
  await html(out, './page.js');
  assert.deepEqual(await inChromium(out, 'index.html'), expected);
});

test('webpack for node', async () => {
  const out = join(project, 'webpack-node');
  await pack({ entry: './node.mjs', target: 'node20', experiments: { outputModule: true }, output: { path: out, filename: 'node.mjs', module: true } });
  assert.deepEqual(await inNode(join(out, 'node.mjs')), expected);
});

test('esbuild', async () => {
  const out = join(project, 'esbuild');
  await esbuild.build({ absWorkingDir: project, entryPoints: { page: './page.mjs', worker: 'infer-prep/worker' }, bundle: true, minify: true, format: 'esm', outdir: out });
  await copyWasm(out);
  await html(out, './page.js');
  assert.deepEqual(await inChromium(out, 'index.html'), expected);
});

test('esbuild for node', async () => {
  const out = join(project, 'esbuild-node');
  await esbuild.build({
    absWorkingDir: project, entryPoints: { node: './node.mjs', 'worker.node': 'infer-prep/worker' },
    bundle: true, format: 'esm', platform: 'node', outdir: out,
  });
  await copyWasm(out);
  assert.deepEqual(await inNode(join(out, 'node.js')), expected);
});

test('types, strict', async () => {
  await cp(join(root, 'test/consumer.ts'), join(project, 'consumer.ts'));
  const dom = ['ES2022', 'DOM'], node = ['ES2022'];
  const types = join(root, 'node_modules/@types');
  for (const [module, moduleResolution, lib, typeRoots] of [
    ['ESNext', 'bundler', dom, []], ['NodeNext', 'nodenext', dom, []], ['NodeNext', 'nodenext', node, ['node']],
  ]) {
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({
      compilerOptions: { target: 'ES2022', module, moduleResolution, lib, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false,
        noEmit: true, types: typeRoots, typeRoots: [types] },
      files: [typeRoots.length > 0 ? 'node.ts' : 'consumer.ts'],
    }));
    await writeFile(join(project, 'node.ts'), `import { readFile } from 'node:fs/promises';
import { init, type Result } from 'infer-prep';
const graph = await (await init()).graph(await readFile('graph.msgp'));
export const r: Result = await graph.run(await readFile('photo.jpg'));
`);
    await exec(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], project).catch((e) => {
      assert.fail(`${module}, ${moduleResolution}, ${lib}: ${e.stdout}`);
    });
  }
  // The README's first example: onnxruntime-web takes our tensors.
  for (const name of ['onnxruntime-web', 'onnxruntime-common']) {
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name), 'junction');
  }
  await writeFile(join(project, 'readme.ts'), blocks[0]);
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({
    compilerOptions: { target: 'ES2022', module: 'ESNext', moduleResolution: 'bundler', lib: dom, strict: true, skipLibCheck: true, noEmit: true, types: [] },
    files: ['readme.ts'],
  }));
  await exec(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], project).catch((e) => { assert.fail(`the README: ${e.stdout}`); });
});
