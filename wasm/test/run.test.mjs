import assert from 'node:assert/strict';
import test from 'node:test';
import { init } from 'infer-prep';
import { decode, image, rejects } from './common.mjs';

for (const simd of [false, true]) {
  test(`run, simd ${simd}`, async () => {
    const prep = await init({ simd });
    const graph = await prep.graph(decode);
    assert.deepEqual(graph.outputs, [{ name: 'pixels', type: 'uint8', layout: 'HWC', dims: [-1, -1, 3] }]);
    const file = await image('png_rgb8.png');
    const first = await graph.run(file);
    assert.equal(first.type, 'uint8');
    assert.equal(first.data, first.outputs.pixels.data);
    assert.equal(first.dims.length, 4);
    assert.deepEqual((await graph.run(file, { batch: false })).dims, first.dims.slice(1));
    for (const other of [new Blob([file]), new Uint8Array(file).buffer, { image: file }]) {
      assert.deepEqual((await graph.run(other)).data, first.data);
    }

    assert.deepEqual(await graph.sizes(first.dims[1], first.dims[2]), [{ name: 'pixels', type: 'uint8', layout: 'HWC', dims: first.dims.slice(1) }]);
    for (const [h, w] of [[0, 5], [5, -1], [1.5, 2], [2 ** 24 + 1, 1], [undefined, 1]]) await rejects(graph.sizes(h, w), 'input', /want whole numbers of 1 to 16777216/);

    await rejects(graph.run(file.subarray(0, 100)), 'format', /png/);
    await rejects(graph.run(new Uint8Array(0)), 'format', /empty input/);
    await rejects(graph.run('image.png'), 'input', /a value of type String: want a Blob/);
    await rejects(graph.run({ picture: file }), 'input', /unknown input "picture": want "image"/);
    await rejects(graph.run({}), 'input', /input "image" is missing/);
    const moved = new ArrayBuffer(8);
    structuredClone(moved, { transfer: [moved] });
    await rejects(graph.run(moved), 'input', /detached|empty/);
    await assert.rejects(graph.run(file, { signal: AbortSignal.abort('stop') }), (e) => e === 'stop');
    assert.deepEqual((await graph.run(file)).data, first.data);

    graph.dispose();
    prep.dispose();
    await rejects(graph.run(file), 'disposed', /disposed/);
    await rejects(graph.sizes(5, 5), 'disposed', /disposed/);
  });
}

test('limits', async () => {
  const prep = await init({ limits: { pixels: 100, input: 10_000 } });
  const graph = await prep.graph(decode);
  await rejects(graph.run(new Uint8Array(10_001)), 'limit', /10001 bytes: limits.input is 10000/);
  await rejects(graph.run(await image('jpeg_base_420.jpg')), 'limit', /the limit is 100/);
  await rejects(init({ limits: { pixels: 0 } }), 'param', /limits.pixels is 0/);
});

test('graphs that are not', async () => {
  const prep = await init();
  await rejects(prep.graph(new Uint8Array([1, 2])), 'graph', /datagraph/);
  await rejects(prep.graph(decode.with(10, 0x41)), 'graph', /datagraph/);
  await rejects(init({ module: new Uint8Array(4) }), 'load', /file cannot be loaded/);
});

test('outputs that batches concatenate get no axis', async () => {
  const prep = await init();
  // The same graph in seven parts, with the rule [column, 2 (concat), 0.0].
  const concat = Uint8Array.from([0x97, ...decode.subarray(1), 0x91, 0x93, 0xa6, ...Buffer.from('pixels'), 2, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0]);
  const file = await image('png_rgb8.png');
  assert.equal((await (await prep.graph(concat)).run(file)).dims.length, 3);
  assert.equal((await (await prep.graph(decode)).run(file)).dims.length, 4);
  prep.dispose();
});
