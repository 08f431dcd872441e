import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzipSync } from 'node:zlib';

/** The largest size of a small file after brotli -q 11, in bytes. */
const budget = 800_000;

const compress = promisify(brotliCompress);
const brotli = async (b) => (await compress(b, { params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: b.length } })).length;

test('sizes', async (t) => {
  t.diagnostic('file                              raw       gzip     brotli     budget');
  const names = ['infer-prep', 'infer-prep-simd', 'infer-prep-full', 'infer-prep-full-simd'];
  const files = names.map((name) => readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url)));
  // A full file has no budget, and takes half a minute to compress.
  const compressed = await Promise.all(files.map((b, i) => (names[i].includes('full') ? '' : brotli(b))));
  names.forEach((name, i) => {
    const small = !name.includes('full');
    const sizes = [files[i].length, gzipSync(files[i], { level: 9 }).length, compressed[i], small ? budget : ''];
    t.diagnostic(`${`${name}.wasm`.padEnd(26)}${sizes.map((n) => String(n).padStart(11)).join('')}`);
    if (small) assert.ok(compressed[i] <= budget, `${name}.wasm has ${compressed[i]} bytes after brotli, want at most ${budget}`);
  });
});
