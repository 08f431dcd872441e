import assert from 'node:assert/strict';
import test from 'node:test';
import { createPool, init } from 'infer-prep';
import { decode, image, rejects } from './common.mjs';

test('a pool gives the tensors of init', async () => {
  const prep = await init(), pool = await createPool({ workers: 2 });
  const [one, many] = await Promise.all([prep.graph(decode), pool.graph(decode)]);
  assert.deepEqual(many.outputs, one.outputs);
  const names = ['png_rgb8.png', 'jpeg_base_420.jpg', 'jpeg_base_444.jpg', 'jpeg_base_422.jpg'];
  const files = await Promise.all(names.map(image));
  const expected = await Promise.all(files.map((f) => one.run(f)));
  // Twice as many runs as Workers, in bytes, Blobs and tensors.
  const got = await Promise.all([...files, ...files.map((f) => new Blob([f])), ...files.map((f) => ({ type: 'bytes', data: f, dims: [] }))].map((f) => many.run(f)));
  got.forEach((r, i) => { assert.deepEqual(r, expected[i % 4]); });
  assert.ok(files.every((f) => f.length > 0), 'the inputs stay usable');
  assert.deepEqual(await many.trace(files[0]), await one.trace(files[0]));
  assert.deepEqual(await many.sizes(7, 9), await one.sizes(7, 9));
  assert.ok(pool.memoryBytes > prep.memoryBytes);

  await rejects(many.run(files[0].subarray(0, 100)), 'format', /png/);
  await rejects(many.run(new Uint8Array(0)), 'format', /empty input/);
  await rejects(many.run('image.png'), 'input', /a value of type String/);
  await rejects(pool.graph(new Uint8Array([1, 2])), 'graph', /datagraph/);
  await rejects(many.run(await image('bmp_24.bmp')), 'unsupported', /init\({ build: 'full' }\)/);
  assert.deepEqual(await many.run(files[0]), expected[0]);

  const stop = new AbortController();
  const runs = files.map((f) => many.run(f, { signal: stop.signal }));
  stop.abort('stop');
  for (const r of await Promise.allSettled(runs)) assert.deepEqual(r, { status: 'rejected', reason: 'stop' });
  assert.deepEqual(await many.run(files[1]), expected[1]);

  many.dispose();
  await rejects(many.run(files[0]), 'disposed', /graph was disposed/);
  await rejects(many.sizes(7, 9), 'disposed', /graph was disposed/);
  const again = await pool.graph(decode);
  const last = again.run(files[0]);
  pool.dispose();
  await rejects(last, 'disposed', /pool was disposed/);
  await rejects(again.run(files[0]), 'disposed', /pool was disposed/);
  await rejects(pool.graph(decode), 'disposed', /pool was disposed/);
});

test('a Worker that ends is replaced', async () => {
  const { Worker } = await import('node:worker_threads');
  const made = [];
  const pool = await createPool({
    workers: 1,
    worker: () => { made.push(new Worker(new URL(import.meta.resolve('infer-prep/worker')))); return made.at(-1); },
  });
  const graph = await pool.graph(decode), file = await image('png_rgb8.png');
  const first = await graph.run(file);
  const cut = graph.run(file);
  await new Promise((r) => { setImmediate(r); });
  await made[0].terminate();
  await cut.then(() => {}, (e) => { assert.equal(e.code, 'internal'); });
  assert.deepEqual(await graph.run(file), first);
  assert.equal(made.length, 2);
  pool.dispose();
});

test('a pool that cannot start', async () => {
  await rejects(createPool({ workers: 0 }), 'param', /workers is 0/);
  const { Worker } = await import('node:worker_threads');
  await rejects(createPool({ workers: 2, worker: () => new Worker('throw new Error("no")', { eval: true }) }), 'load', /cannot be started: Error: no/);
  await rejects(createPool({ worker: () => { throw new Error('no'); } }), 'load', /cannot be started: Error: no/);
});

test('an idle pool does not keep the process running', async () => {
  const { execFile } = await import('node:child_process');
  const script = `import { createPool } from 'infer-prep'; await createPool({ workers: 1 }); console.log('ready')`;
  const out = await new Promise((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], { cwd: new URL('..', import.meta.url), timeout: 20_000 },
      (e, stdout) => { if (e) reject(e); else resolve(stdout); });
  });
  assert.equal(out, 'ready\n');
});
