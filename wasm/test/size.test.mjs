import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The largest size of a small file after brotli -q 11, in bytes. */
const budget = 800_000;

const brotli = (b) => brotliCompressSync(b, { params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: b.length } }).length;

test('sizes', (t) => {
  t.diagnostic('file                              raw       gzip     brotli     budget');
  for (const name of ['infer-prep', 'infer-prep-simd', 'infer-prep-full', 'infer-prep-full-simd']) {
    const b = readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url));
    const small = !name.includes('full');
    const sizes = [b.length, gzipSync(b, { level: 9 }).length, brotli(b), small ? budget : ''];
    t.diagnostic(`${`${name}.wasm`.padEnd(26)}${sizes.map((n) => String(n).padStart(11)).join('')}`);
    if (small) assert.ok(sizes[2] <= budget, `${name}.wasm has ${sizes[2]} bytes after brotli, want at most ${budget}`);
  }
});
