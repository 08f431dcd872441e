import assert from 'node:assert/strict';
import test from 'node:test';
import { createPool, init } from 'infer-prep';
import { decode, image, rejects } from './common.mjs';

for (const [name, make] of [['init', init], ['createPool', (o) => createPool({ workers: 1, ...o })]]) {
  test(`${name}: bad inputs`, async () => {
    const prep = await make();
    const graph = await prep.graph(decode);
    const file = await image('jpeg_base_420.jpg');
    const want = await graph.run(file);
    const size = prep.memoryBytes;
    const large = new Uint8Array(300e6);
    const half = new Blob([large]);
    const gone = new Uint8Array(file).buffer, view = new Float32Array(gone, 0, 2);
    structuredClone(gone, { transfer: [gone] });
    const cases = [
      ['large', large, 'limit', /300000000 bytes: limits.input is 268435456/],
      ['large Blob', half, 'limit', /300000000 bytes: limits.input is 268435456/],
      ['large tensor', { type: 'uint8', data: large, dims: [300e6] }, 'limit', /300000000 bytes/],
      ['detached', gone, 'input', /detached/],
      ['detached view', view, 'input', /detached/],
      ['detached tensor', { type: 'float32', data: view, dims: [2] }, 'input', /detached/],
      ['truncated', file.subarray(0, 300), 'format', /jpeg/],
      ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'unsupported', /svg/i],
      ['no image', new ArrayBuffer(100), 'format', /unknown format/],
      ['BMP', await image('bmp_24.bmp'), 'unsupported', /codec: unsupported: BMP is not in the small build; init\({ build: 'full' }\) has every op and format$/],
      ['null', null, 'input', /null: want a Blob/],
      ['number', 7, 'input', /a value of type Number: want a Blob/],
      ['tensor type', { type: 'float128', data: new Uint8Array(2), dims: [2] }, 'input', /type "float128": want uint8/],
      ['tensor data', { type: 'uint8', data: [1, 2], dims: [2] }, 'input', /data is a value of type Array: want a typed array/],
      ['tensor dims', { type: 'uint8', data: new Uint8Array(2), dims: [-2] }, 'input', /dims -2: want an array of whole numbers/],
      ['tensor size', { type: 'uint8', data: new Uint8Array(3), dims: [2] }, 'input', /tensor/],
      ['tensor rank', { type: 'uint8', data: new Uint8Array(1), dims: [1, 1, 1, 1, 1, 1, 1, 1, 1] }, 'input', /9 axes/],
      ['tensor layout', { type: 'uint8', data: new Uint8Array(1), dims: [1], layout: 'NHWC' }, 'input', /layout "NHWC"/],
      ['tensor for an image', { type: 'uint8', data: new Uint8Array(3), dims: [1, 1, 3], layout: 'HWC' }, 'input', /image/],
    ];
    for (const [what, input, code, text] of cases) {
      await rejects(graph.run(input), code, text).catch((e) => { throw new Error(`${what}: ${e.message}`, { cause: e }); });
      assert.deepEqual(await graph.run(file), want, `after ${what}`);
    }
    assert.equal(prep.memoryBytes, size, 'inputs over the limit are not copied into the memory');

    // A buffer that is transferred after run was called.
    const moved = new Uint8Array(file).buffer;
    const started = graph.run(moved);
    structuredClone(moved, { transfer: [moved] });
    await started.then((r) => { assert.deepEqual(r, want); }, (e) => { assert.match(`${e.code} ${e.message}`, /^input .*detached/); });
    assert.deepEqual(await graph.run(file), want);
    prep.dispose();
  });
}

test('the small build names the full one', async () => {
  const graph = decode.slice();
  const text = new TextDecoder('latin1').decode(graph);
  const at = text.indexOf('decode');
  graph.set(Buffer.from('resiez'), at);
  const small = await init(), full = await init({ build: 'full' });
  await rejects(small.graph(graph), 'unknown-op', /"resiez".*; init\({ build: 'full' }\) has every op and format$/);
  await rejects(full.graph(graph), 'unknown-op', /"resiez"(?!.*build)/);
  const bmp = await image('bmp_24.bmp');
  assert.equal((await (await full.graph(decode)).run(bmp)).type, 'uint8');
  await rejects(init({ build: 'large' }), 'param', /unknown build "large": want small or full/);
  await rejects(init({ limits: { bytes: 2 ** 33 } }), 'param', /limits.bytes is 8589934592: must be at most 4 GiB/);
  await rejects(init({ limits: { pixel: 1 } }), 'param', /unknown limit "pixel": want pixels, bytes, input/);
});
