// Writes bundles, valid and not, from docs/format/bundle.md alone.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';

export const sha256 = (b) => createHash('sha256').update(b).digest();
const key = generateKeyPairSync('ed25519');
export const publicKey = Buffer.from(key.publicKey.export({ format: 'jwk' }).x, 'base64url');
export const publicPEM = key.publicKey.export({ type: 'spki', format: 'pem' });

const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n); return b; };
const aligned = (n) => Math.ceil(n / 64) * 64;
const padded = (b) => Buffer.concat([b, Buffer.alloc(aligned(b.length) - b.length)]);

/** pack writes msgpack: arrays, strings, Buffers as bytes, {f: number} as float64, and whole numbers and bigints as integers. */
export function pack(v) {
  const head = (n, fixed, max, code) => {
    if (n <= max) return Buffer.of(fixed | n);
    const b = Buffer.alloc(3);
    b[0] = code;
    b.writeUInt16BE(n, 1);
    return b;
  };
  if (Array.isArray(v)) return Buffer.concat([head(v.length, 0x90, 15, 0xdc), ...v.map(pack)]);
  if (typeof v === 'string') return Buffer.concat([head(Buffer.byteLength(v), 0xa0, 31, 0xda), Buffer.from(v)]);
  if (Buffer.isBuffer(v)) return Buffer.concat([Buffer.of(0xc5, v.length >> 8, v.length & 255), v]);
  const b = Buffer.alloc(9);
  if (typeof v === 'object' && 'raw' in v) return Buffer.concat([head(v.raw.length, 0xa0, 31, 0xda), v.raw]);
  if (typeof v === 'object') {
    b[0] = 0xcb;
    b.writeDoubleBE(v.f, 1);
    return b;
  }
  b[0] = 0xd3;
  b.writeBigInt64BE(BigInt(v), 1);
  return b;
}

function crc32c(b) {
  let c = -1;
  for (const v of b) {
    c ^= v;
    for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (c & 1 ? 0x82f63b78 : 0);
  }
  return ~c >>> 0;
}

/** head returns a header with a valid checksum. */
export function head(manifest, { signature = 0, size = manifest.length, version = 1, start = 64, digest = sha256(manifest) } = {}) {
  const n = Buffer.alloc(8);
  n.writeBigUInt64LE(BigInt(size));
  const b = Buffer.concat([Buffer.from('IPbundle'), u32(version), u32(0), u32(start), u32(signature), n, digest]);
  b.writeUInt32LE(crc32c(Buffer.concat([b.subarray(0, 12), b.subarray(16)])), 12);
  return b;
}

/** file returns a file with a manifest and the bytes after it, signed if asked. */
export function file(manifest, rest, signed = false, options = {}) {
  const b = Buffer.concat([padded(Buffer.concat([head(manifest, { signature: signed ? 128 : 0, ...options }), manifest])), rest]);
  return signed ? Buffer.concat([b, signature(manifest)]) : b;
}

export function signature(manifest) {
  const message = Buffer.concat([Buffer.from('infer-prep bundle signature\0IPbundle'), u32(1), sha256(manifest)]);
  return Buffer.concat([Buffer.from('IPsigned'), u32(1), u32(0), publicKey, sign(null, message, key.privateKey), Buffer.alloc(16)]);
}

/**
 * parts returns the manifest, as lists to change, and the bytes of the sections.
 * sections are [name, format, bytes].
 */
export function parts(sections, { least = 'exact', reference = '', versions = [], goldens = [] } = {}) {
  let rest = Buffer.alloc(0);
  const list = sections.map(([name, format, data]) => {
    const s = [name, format, rest.length, data.length, sha256(data)];
    rest = Buffer.concat([rest, padded(data)]);
    return s;
  });
  return { manifest: [least, reference, versions, list, goldens], rest };
}

/** bundle returns a bundle of sections. */
export function bundle(sections, options = {}) {
  const { manifest, rest } = parts(sections, options);
  return file(pack(manifest), rest, options.signed);
}

/** read returns the manifest's bytes and the position of the sections. */
export function read(b) {
  const n = Number(b.readBigUInt64LE(24));
  return { manifest: Buffer.from(b.subarray(64, 64 + n)), base: aligned(64 + n), signature: b.readUInt32LE(20) };
}
