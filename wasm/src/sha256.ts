/**
 * sha256 returns the SHA-256 of bytes. WebCrypto computes it, except in
 * insecure contexts (http of another host), where browsers hide WebCrypto.
 */
export async function sha256(b: Uint8Array): Promise<Uint8Array> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  return subtle ? new Uint8Array(await subtle.digest('SHA-256', b as Uint8Array<ArrayBuffer>)) : plainSHA256(b);
}

/** plainSHA256 is SHA-256 of FIPS 180-4. */
export function plainSHA256(b: Uint8Array): Uint8Array {
  const state = Uint32Array.from(constants(8, 1 / 2));
  const whole = b.length & ~63;
  for (let at = 0; at < whole; at += 64) block(state, b, at);
  // A one bit, zeros, and the length in bits.
  const end = new Uint8Array(b.length - whole < 56 ? 64 : 128);
  end.set(b.subarray(whole));
  end[b.length - whole] = 0x80;
  new DataView(end.buffer).setBigUint64(end.length - 8, BigInt(b.length) * 8n);
  for (let at = 0; at < end.length; at += 64) block(state, end, at);
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((v, i) => out.setUint32(4 * i, v));
  return new Uint8Array(out.buffer);
}

/** constants returns the first 32 bits of the fractions of the roots of the first n primes. */
function constants(n: number, root: number): number[] {
  const primes: number[] = [];
  for (let p = 2; primes.length < n; p++) if (primes.every((q) => p % q !== 0)) primes.push(p);
  return primes.map((p) => {
    const r = p ** root;
    return Math.floor((r - Math.floor(r)) * 2 ** 32);
  });
}

const round = /* @__PURE__ */ constants(64, 1 / 3);
const w = new Int32Array(64);
const rotate = (v: number, n: number): number => (v >>> n) | (v << (32 - n));

function block(state: Uint32Array, data: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++, at += 4) w[i] = (data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!;
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15]!, b = w[i - 2]!;
    w[i] = w[i - 16]! + (rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)) + w[i - 7]! + (rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + round[i]! + w[i]!) | 0;
    const u = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t) | 0;
    d = c; c = b; b = a; a = (t + u) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((v, i) => { state[i]! += v; });
}

/** hex returns bytes in hexadecimal. */
export function hex(b: Uint8Array): string {
  return Array.from(b, (v) => v.toString(16).padStart(2, '0')).join('');
}

/** same reports whether two byte strings are equal. */
export function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((v, i) => v === b[i]);
}
