import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { init, InferPrepError } from 'infer-prep';
import { encode, graph, ops, rename } from 'infer-prep/graph';
import * as presets from 'infer-prep/presets';
import { graphs } from './peer.mjs';

const known = graphs();

const throws = (f, code, text) => assert.throws(f, (e) => {
  assert.ok(e instanceof InferPrepError, String(e));
  assert.equal(e.code, code, e.message);
  assert.match(e.message, text);
  return true;
});

test('the msgpack form equals that of Go', (t) => {
  const kinds = new Map();
  for (const [name, json, want] of known) {
    assert.deepEqual(Buffer.from(encode(json)), want, name);
    const kind = name.split('/')[0];
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(kinds)));
  assert.ok(known.length > 900, `${known.length} graphs`);
});

test('presets', () => {
  const want = known.filter(([n]) => n.startsWith('preset/')).map(([n, , b]) => [n.slice('preset/'.length), b]);
  assert.deepEqual(Object.entries(presets).map(([n, b]) => [n, Buffer.from(b)]), want);
});

test('ops fill in the defaults of the constructors', () => {
  // preset.imagenet in TypeScript.
  const g = graph(
    ops.decode(), ops.resize({ fit: 'shortest', edge: 256 }), ops.center_crop({ height: 224, width: 224, crop_rounding: 'half_even' }),
    ops.to_tensor(), ops.normalize({ mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] }),
  );
  g.reference = 'torchvision 0.29.2 Resize(256), CenterCrop(224), ToTensor, Normalize on Pillow 13.0.0';
  assert.deepEqual(encode(g), presets.imagenet);
  // preset.yolo, with side outputs and another name.
  const yolo = rename(graph(ops.decode(), ops.letterbox({ height: 640, fill: [114] }), ops.to_tensor()), 'images');
  yolo.reference = JSON.parse(known.find(([n]) => n === 'preset/yolo')[1]).reference;
  assert.deepEqual(encode(yolo), presets.yolo);
  // One step for each op, with what New gives, of which the table's defaults are a part.
  for (const [name, json] of known.filter(([n], i) => n.startsWith('op/') && n !== known[i - 1]?.[0])) {
    const step = JSON.parse(json).steps[0];
    const { op, version, in: inputs, out, params } = ops[name.slice('op/'.length)](step.params);
    assert.deepEqual({ op, version, in: inputs, out, params: { ...params } }, step, name);
  }
  assert.deepEqual(ops.decode({ color: undefined }).params.color, 'rgb');
});

test('graphs run in the small build', async () => {
  const prep = await init();
  const open = await prep.graph(encode(rename(graph(ops.decode(), ops.resize({ height: 20, width: 30 })), 'small')));
  const out = await open.run(await readFile(new URL('../../testdata/images/jpeg_base_420.jpg', import.meta.url)));
  assert.deepEqual(Object.entries(out.outputs).map(([n, t]) => [n, t.dims]), [['small', [1, 20, 30, 3]]]);
  const file = await readFile(new URL('../../testdata/images/jpeg_base_420.jpg', import.meta.url));
  for (const [damage, ok] of [['imread', true], ['imdecode', false]]) {
    const g = graph(ops.decode({ damage }), ops.resize({ height: 20, width: 30, backend: 'opencv_ipp', interpolation: 'bicubic' }));
    const opencv = await prep.graph(encode(g));
    assert.deepEqual((await opencv.run(file)).dims, [1, 20, 30, 3]);
    const cut = opencv.run(file.subarray(0, file.length - 100));
    await (ok ? cut : assert.rejects(cut, { code: 'format' }));
  }
  for (const p of Object.values(presets)) (await prep.graph(p)).dispose();
  prep.dispose();
});

test('invalid definitions', () => {
  const of = (params, op = 'resize', rest = {}) => () => encode({ ...graph({ op, version: 1, in: ['image'], out: ['image'], params }), ...rest });
  const resize = ops.resize({ height: 1, width: 1 }).params;
  throws(of({}, 'reszie'), 'unknown-op', /step 0: unknown op "reszie"; did you mean "resize"\?/);
  throws(of({}, 'toString'), 'unknown-op', /unknown op "toString"/);
  throws(of({ ...resize, widht: 1 }), 'param', /step 0 \(resize\): unknown parameter "widht"; did you mean "width"\?/);
  throws(of({ ...resize, width: null }), 'param', /parameter "width" is missing; its usual value is 0/);
  throws(of({ height: 1 }, 'crop'), 'param', /parameter "top" is missing$/);
  throws(of({ ...resize, width: '1' }), 'param', /resize\): width: "1": want a whole number/);
  throws(of({ ...resize, width: 1.5 }), 'param', /width: 1.5: want a whole number/);
  throws(of({ ...resize, width: 2 ** 53 }), 'param', /too few bits/);
  throws(of({ ...resize, backend: 'pilow' }), 'param', /backend: "pilow": want one of pillow, opencv.*; did you mean "pillow"\?/);
  throws(of({ ...resize, keep_aspect: 0 }), 'param', /keep_aspect: 0: want true or false/);
  throws(of({ mean: [NaN], std: [1] }, 'normalize'), 'param', /mean\[0\]: NaN: want a finite number/);
  throws(of({ mean: 1, std: [1] }, 'normalize'), 'param', /mean: 1: want a list/);
  throws(of({ slices: ['1', 1] }, 'slice'), 'param', /slices\[1\]: 1: want a string/);
  throws(of({ alpha: [1, 2] }, 'lighting_noise'), 'param', /alpha: 2 values, want 3/);
  throws(of({ x: 1 }, 'to_tensor'), 'param', /unknown parameter "x": expected no parameters/);
  throws(of({ ops: [{ op: 'cro', version: 1, params: {} }] }, 'compose'), 'unknown-op', /ops\[0\]: unknown op "cro"; did you mean "crop"\?/);
  throws(of(resize, 'resize', { output: [] }), 'graph', /unknown field "output"; did you mean "outputs"\?/);
  throws(of(resize, 'resize', { infer_prep_graph: 2 }), 'graph', /infer_prep_graph is 2, this package reads 1/);
  throws(of(resize, 'resize', { outputs: undefined }), 'graph', /field "outputs" is missing/);
  throws(of(resize, 'resize', { inputs: [{ name: 'image', dtype: 'byte', layout: 'none', shape: [] }] }), 'graph', /dtype: "byte": want one of .*did you mean "bytes"/);
  throws(() => encode('{'), 'graph', /not JSON/);
  throws(() => encode([]), 'graph', /want an object/);
  let deep = ops.to_tensor();
  for (let i = 0; i < 9; i++) deep = ops.compose({ ops: [deep] });
  throws(() => encode(graph(deep)), 'param', /nested deeper than 8/);
});
