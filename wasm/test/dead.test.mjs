import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { deflateSync } from 'node:zlib';
import { createPool, init } from 'infer-prep';
import { decode, image, rejects } from './common.mjs';

/** png returns a PNG file of a size, with pixels for its first rows alone. */
function png(width, height) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const size = Buffer.alloc(4), sum = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([size, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(3 * width + 1))), chunk('IEND', Buffer.alloc(0))]);
}

function crc(b) {
  let c = -1;
  for (const v of b) {
    c ^= v;
    for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (0xedb88320 & -(c & 1));
  }
  return ~c >>> 0;
}

/**
 * small returns the module with a maximum of 64 MiB in its memory section, as
 * a phone may give it. Go ends itself when memory does not grow.
 */
async function small() {
  const file = await readFile(fileURLToPath(import.meta.resolve('infer-prep/infer-prep.wasm')));
  const number = (at) => {
    let n = 0, shift = 0, v;
    do {
      v = file[at++];
      n += (v & 127) * 2 ** shift;
      shift += 7;
    } while (v & 128);
    return [n, at];
  };
  for (let at = 8; at < file.length;) {
    const start = at, id = file[at];
    const [size, body] = number(at + 1);
    at = body + size;
    if (id !== 5) continue;
    const [least] = number(body + 2);
    assert.ok(file[body] === 1 && least < 1024, 'one memory, of less than 64 MiB at the start');
    const two = (n) => [(n & 127) | 128, n >> 7];
    const section = [1, 1, ...two(least), ...two(1024)];
    return WebAssembly.compile(Buffer.concat([file.subarray(0, start), Buffer.from([5, section.length, ...section]), file.subarray(at)]));
  }
  return assert.fail('no memory section');
}

for (const [name, make] of [['init', init], ['createPool', (o) => createPool({ workers: 1, ...o })]]) {
  test(`${name} goes on after the module ended`, async () => {
    const prep = await make({ module: await small() });
    const graphs = [await prep.graph(decode), await prep.graph(decode)];
    const file = await image('jpeg_base_420.jpg');
    const want = await graphs[0].run(file);
    for (let i = 0; i < 3; i++) {
      await rejects(graphs[0].run(png(6000, 6000)), 'limit', /^infer-prep: the module ended: fatal error: out of memory$/);
      const all = await Promise.all([...graphs, ...graphs].map((g) => g.run(file)));
      for (const r of all) assert.deepEqual(r, want);
    }
    graphs[0].dispose();
    await rejects(graphs[0].run(file), 'disposed', /the graph was disposed of/);
    assert.deepEqual(await graphs[1].run(file), want);
    prep.dispose();
    await rejects(graphs[1].run(file), 'disposed', /disposed of/);
  });
}
