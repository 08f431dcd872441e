// What graph, open and fromHF take, and what they say of other files.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createPool, init } from 'infer-prep';
import { encode, graph as define, ops } from 'infer-prep/graph';
import * as presets from 'infer-prep/presets';
import { bundle } from './bundles.mjs';
import { decode, image, rejects } from './common.mjs';

const testdata = new URL('../../importer/testdata/', import.meta.url);
const vit = { image_processor_type: 'ViTImageProcessor', size: 20 };
const bytes = (o) => new TextEncoder().encode(typeof o === 'string' ? o : JSON.stringify(o));

let dir, small, full;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'infer-prep-'));
  [small, full] = [await init(), await init({ build: 'full' })];
});
after(async () => {
  small.dispose();
  full.dispose();
  await rm(dir, { recursive: true, force: true });
});

test('files that are no graphs are named, with what reads them', async () => {
  const json = define(ops.decode());
  const hf = /a preprocessor_config\.json of transformers: fromHF of init\(\{ build: 'full' \}\) imports it, or infer-prep graph import --hf FILE --msgp -o GRAPH$/;
  for (const prep of [small, full]) {
    for (const name of Object.keys(presets)) {
      await rejects(prep.graph(name), 'graph', new RegExp(`^infer-prep: graph: "${name}" is a preset: import \\{ ${name} \\} from 'infer-prep/presets'`));
    }
    await rejects(prep.graph(bytes(vit)), 'graph', hf);
    await rejects(prep.graph(bytes(`\ufeff ${JSON.stringify({ image_processor: vit })}`)), 'graph', hf);
    await rejects(prep.graph(vit), 'graph', hf);
    await rejects(prep.graph(json), 'graph', /a graph's definition: encode of infer-prep\/graph makes its bytes$/);
    await rejects(prep.graph(bytes({ architecture: 'x', pretrained_cfg: {} })), 'graph', /config\.json of timm: infer-prep graph import --timm/);
    await rejects(prep.graph(bytes('Compose(\n    ToTensor()\n)')), 'graph', /torchvision's transforms as Python prints them: infer-prep graph import --torchvision/);
    await rejects(prep.graph(bytes({ a: 1 })), 'graph', /a JSON object without infer_prep_graph/);
    await rejects(prep.graph(bytes('{')), 'graph', /begins as JSON, but is invalid/);
    await rejects(prep.graph(bytes('IPbundle')), 'graph', /is a bundle: open opens it$/);
    await rejects(prep.graph(7), 'param', /want the graph as a Uint8Array, ArrayBuffer, Blob, Response or address$/);
    await rejects((await prep.graph(decode)).run('photo.jpg'), 'input', /String: want a Blob or bytes: fetch the address/);
  }
  await rejects(small.graph(bytes(json)), 'graph', /in JSON form, which the small build does not read: use init\(\{ build: 'full' \}\), encode of infer-prep\/graph/);
  const photo = await image('jpeg_base_420.jpg');
  for (const text of [JSON.stringify(json), `\ufeff${JSON.stringify(json)}`, ` \n${JSON.stringify(json)}`]) {
    assert.equal((await (await full.graph(bytes(text))).run(photo)).type, 'uint8', text);
  }
});

test('paths and file URLs in node', async () => {
  const path = join(dir, 'graph.msgp');
  await writeFile(path, encode(define(ops.decode())));
  for (const source of [path, pathToFileURL(path), pathToFileURL(path).href, new Blob([await readFile(path)]), new Response(await readFile(path))]) {
    assert.deepEqual((await small.graph(source)).inputs.map((i) => i.name), ['image']);
  }
  await writeFile(join(dir, 'a.bundle'), bundle([['graph', '', Buffer.from(decode)]]));
  assert.ok(await small.open(join(dir, 'a.bundle')));
  await rejects(small.graph(join(dir, 'none.msgp')), 'load', /graph: the graph cannot be read: Error: ENOENT: .*none\.msgp/);
  await rejects(small.open('none.bundle'), 'load', /open: the bundle cannot be read: Error: ENOENT/);
  const wasm = new URL('../dist/infer-prep.wasm', import.meta.url);
  for (const module of [wasm, wasm.href, wasm.pathname]) (await init({ module })).dispose();
  await assert.rejects(small.graph(path, { signal: AbortSignal.abort(new Error('stop')) }), /stop/);
});

test('fromHF gives the tensors of transformers', async (t) => {
  const { cases } = JSON.parse(await readFile(new URL('goldens_official.json', testdata)));
  await writeFile(join(dir, 'preprocessor_config.json'), JSON.stringify(vit));
  let equal = 0;
  for (const make of [() => init({ build: 'full' }), () => createPool({ workers: 1, build: 'full' })]) {
    const prep = await make();
    for (const c of cases) {
      const graph = await prep.fromHF(c.config, { backend: c.importer === 'hf' ? 'torchvision' : 'pil' });
      for (const r of c.results.filter((r) => r.outputs)) {
        const got = await graph.run(await readFile(new URL(r.image, testdata)), { batch: false });
        for (const [name, want] of Object.entries(r.outputs)) {
          const { data, dims, type } = got.outputs[name];
          assert.deepEqual([type, dims, createHash('sha256').update(data).digest('hex')], [want.dtype, want.shape, want.sha256], `${c.name} ${r.image} ${name}`);
          equal++;
        }
      }
      graph.dispose();
    }
    assert.deepEqual((await prep.fromHF(join(dir, 'preprocessor_config.json'))).outputs[0].dims, [3, 20, 20]);
    assert.deepEqual((await prep.fromHF(bytes(`\ufeff${JSON.stringify(vit)}`))).outputs[0].dims, [3, 20, 20]);
    assert.ok(await prep.fromHF({ ...vit, zz: 1 }, { ignoreKeys: ['zz'] }));
    await rejects(prep.fromHF({ ...vit, zz: 1 }), 'param', /unknown key zz/);
    await rejects(prep.fromHF(vit, { ignoreKeys: ['size'] }), 'param', /ignore key "size"/);
    await rejects(prep.fromHF(vit, { backend: 'numpy' }), 'param', /unknown backend "numpy"/);
    await rejects(prep.fromHF({ size: 3 }), 'unsupported', /unknown class: image_processor_type: missing/);
    await rejects(prep.fromHF(bytes('no JSON')), 'graph', /not a JSON object/);
    prep.dispose();
  }
  t.diagnostic(`${equal} tensors equal`);
  assert.ok(equal > 80, `${equal} tensors`);
  await rejects(small.fromHF(vit), 'unsupported', /the small build has no importer: init\(\{ build: 'full' \}\) has it; infer-prep graph import --hf/);
});
