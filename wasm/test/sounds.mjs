// The sounds of testdata/gen/common/sound.py, and digests of tensors.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** sound returns n samples of 16 bits: speech, noise, silence, clip or sweep. */
export function sound(kind, n) {
  return Int16Array.from({ length: n }, (_, k) => integer(kind, k));
}

/** floats returns them divided by 32768. */
export const floats = (kind, n) => Float32Array.from(sound(kind, n), (v) => v / 32768);

const half = (a, b) => Math.trunc(a / b);

function integer(kind, k) {
  if (kind === 'silence') return 0;
  if (kind === 'noise') return noise(k);
  if (kind === 'sweep') return tone(k * (1 + half(k, 64)), 4096);
  const period = 100 + half((half(k, 4000) * 37) % 60, 2) * 2;
  const r = k % 5000, envelope = Math.min(Math.min(r, 5000 - r) * 2, 4096);
  let v = tone(k, period) + (tone(3 * k, period) >> 1) + (tone(7 * k, period) >> 2) + (noise(k) >> 4);
  v = Math.floor((v * envelope) / 8192);
  if (kind === 'clip') v *= 8;
  return Math.max(-32768, Math.min(v, 32767));
}

function tone(k, period) {
  const h = half(period, 2), p = k % period, q = p % h;
  const v = half(4 * 32767 * q * (h - q), h * h);
  return p >= h ? -v : v;
}

function noise(k) {
  let h = Number(BigInt.asUintN(32, BigInt(k) * 2654435761n + 12345n));
  h = Math.imul(h ^ (h >>> 15), 2246822519);
  h ^= h >>> 13;
  return (h >>> 16) - 32768;
}

/** digest returns the SHA-256 of a tensor's bytes. */
export const digest = (t) => createHash('sha256').update(new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength)).digest('hex');

/** goldens returns the settings of transformers' feature extractors, and the digests of their outputs. */
export const goldens = async () => JSON.parse(await readFile(new URL('../../importer/testdata/sounds.json', import.meta.url), 'utf8')).cases;

/** joined returns the parts of an output as a whole. */
export function joined(parts, axis) {
  const dims = [...parts[0].dims], sizes = parts.map((p) => p.dims[axis]);
  dims[axis] = sizes.reduce((a, b) => a + b, 0);
  const outer = dims.slice(0, axis).reduce((a, b) => a * b, 1), inner = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
  const data = new parts[0].data.constructor(outer * dims[axis] * inner);
  for (let o = 0, at = 0; o < outer; o++) {
    parts.forEach((p, i) => {
      const n = sizes[i] * inner;
      data.set(p.data.subarray(o * n, (o + 1) * n), at);
      at += n;
    });
  }
  return { type: parts[0].type, layout: parts[0].layout, dims, data };
}

/** streamed returns the outputs of a stream that gets the samples in pieces, joined. */
export function streamed(stream, samples, size) {
  const parts = {};
  const keep = (l) => { for (const [name, t] of Object.entries(l)) (parts[name] ??= []).push(t); };
  for (let at = 0; at < samples.length;) {
    const n = size();
    keep(stream.push(samples.subarray(at, at + n)));
    at += n;
  }
  keep(stream.end());
  return Object.fromEntries(Object.entries(parts).map(([name, l]) => [name, stream.axes[name] < 0 ? l[0] : joined(l, stream.axes[name])]));
}
