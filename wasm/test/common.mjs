import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { InferPrepError } from 'infer-prep';

const testdata = new URL('../../testdata/', import.meta.url);

/** image reads a file of testdata/images. */
export const image = (name) => readFile(new URL(`images/${name}`, testdata));

/** decode is a graph that decodes an image to 8-bit RGB, by hand; see docs/format/bundle.md. */
export const decode = Uint8Array.from([
  0x96, 1, 0xa0, 0x91, 0x94, 0xa5, ...Buffer.from('image'), 12, 0, 0x90,
  0x91, 0x95, 0xa6, ...Buffer.from('decode'), 1, 0x91, 0xa5, ...Buffer.from('image'), 0x91, 0xa6, ...Buffer.from('pixels'),
  0x97, 0, 0, 0, 0, 0, 0, 0, 0x91, 0xa6, ...Buffer.from('pixels'), 0x90,
]);

/** rejects asserts that a promise rejects with an InferPrepError. */
export const rejects = (p, code, text) => assert.rejects(p, (e) => {
  assert.ok(e instanceof InferPrepError, String(e));
  assert.equal(e.code, code, e.message);
  assert.match(e.message, text);
  return true;
});
