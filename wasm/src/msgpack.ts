/** MsgpackError is the error of a {@link Reader}, with the offset of the value. */
export class MsgpackError extends Error {
  constructor(readonly offset: number, message: string) { super(message); }
}

const maxInt64 = 2n ** 63n - 1n;

/**
 * Reader reads values of known kinds one after another. It accepts what Go's
 * package msgpack accepts.
 *
 * Strings are returned with one character per byte, so that they compare like
 * their bytes; {@link utf8} decodes them.
 */
export class Reader {
  private readonly view: DataView;
  at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The number of bytes that are left. */
  get left(): number { return this.bytes.length - this.at; }

  fail(message: string): never { throw new MsgpackError(this.at, message); }

  /** int reads a signed integer of 64 bits. */
  int(): bigint {
    const c = this.byte();
    if (c <= 0x7f) return BigInt(c);
    if (c >= 0xe0) return BigInt(c - 0x100);
    const at = this.at;
    switch (c) {
      case 0xcc: this.take(1); return BigInt(this.view.getUint8(at));
      case 0xcd: this.take(2); return BigInt(this.view.getUint16(at));
      case 0xce: this.take(4); return BigInt(this.view.getUint32(at));
      case 0xd0: this.take(1); return BigInt(this.view.getInt8(at));
      case 0xd1: this.take(2); return BigInt(this.view.getInt16(at));
      case 0xd2: this.take(4); return BigInt(this.view.getInt32(at));
      case 0xd3: this.take(8); return this.view.getBigInt64(at);
      case 0xcf: {
        this.take(8);
        const v = this.view.getBigUint64(at);
        return v <= maxInt64 ? v : this.fail(`${v} overflows int64`);
      }
      default: return this.wrong('an integer', c);
    }
  }

  /** uint8 reads an integer of 0 to 255. */
  uint8(): number {
    const v = this.int();
    return v >= 0n && v <= 255n ? Number(v) : this.fail(`${v}: want 0 to 255`);
  }

  /** float reads a float64 or float32. */
  float(): number {
    const c = this.byte(), at = this.at;
    switch (c) {
      case 0xca: this.take(4); return this.view.getFloat32(at);
      case 0xcb: this.take(8); return this.view.getFloat64(at);
      default: return this.wrong('a float', c);
    }
  }

  /** text reads a string of at most limit bytes. */
  text(limit: number): string {
    const c = this.byte();
    let n: number;
    if (c >= 0xa0 && c <= 0xbf) n = c & 31;
    else if (c >= 0xd9 && c <= 0xdb) n = this.length(c - 0xd9);
    else return this.wrong('a string', c);
    const b = this.take(n);
    if (n > limit) this.fail(`text of ${n} bytes, want at most ${limit}`);
    let s = '';
    for (const v of b) s += String.fromCharCode(v);
    return s;
  }

  /** data reads a byte string of n bytes, and returns a view of it. */
  data(want: number): Uint8Array {
    const c = this.byte();
    if (c < 0xc4 || c > 0xc6) this.wrong('bytes', c);
    const n = this.length(c - 0xc4);
    const b = this.take(n);
    return n === want ? b : this.fail(`${n} bytes, want ${want}`);
  }

  /** count reads the length of an array, which is at most limit and at most the bytes that are left. */
  count(limit: number): number {
    const c = this.byte();
    let n: number;
    if (c >= 0x90 && c <= 0x9f) n = c & 15;
    else if (c === 0xdc || c === 0xdd) n = this.length(c - 0xdc + 1);
    else return this.wrong('an array', c);
    return n <= Math.min(limit, this.left) ? n : this.fail(`array of ${n} in ${this.left} bytes, want at most ${limit}`);
  }

  /** tuple reads the length of an array of n values. */
  tuple(n: number): void {
    const got = this.count(n);
    if (got !== n) this.fail(`tuple of ${got}, want ${n}`);
  }

  /** skip skips a value with all values inside it. */
  skip(): void {
    for (let left = 1; left > 0; left--) {
      const c = this.byte();
      if (c >= 0x80 && c <= 0x8f) left += 2 * (c & 15);
      else if (c >= 0x90 && c <= 0x9f) left += c & 15;
      else if (c >= 0xa0 && c <= 0xbf) this.take(c & 31);
      else if (c >= 0xc4 && c <= 0xc6) this.take(this.length(c - 0xc4));
      else if (c >= 0xc7 && c <= 0xc9) this.take(this.length(c - 0xc7) + 1);
      else if (c >= 0xca && c <= 0xd3) this.take([4, 8, 1, 2, 4, 8, 1, 2, 4, 8][c - 0xca]!);
      else if (c >= 0xd4 && c <= 0xd8) this.take(1 + (1 << (c - 0xd4)));
      else if (c >= 0xd9 && c <= 0xdb) this.take(this.length(c - 0xd9));
      else if (c === 0xdc || c === 0xdd) left += this.length(c - 0xdc + 1);
      else if (c === 0xde || c === 0xdf) left += 2 * this.length(c - 0xde + 1);
      if (left - 1 > this.left) this.fail('the input ends within a value');
    }
  }

  private byte(): number {
    if (this.left < 1) this.fail('the input ends within a value');
    return this.bytes[this.at++]!;
  }

  private take(n: number): Uint8Array {
    if (n > this.left) this.fail('the input ends within a value');
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }

  /** length reads a length of 1, 2 or 4 bytes. */
  private length(width: number): number {
    const b = this.take(1 << width);
    let n = 0;
    for (const v of b) n = n * 256 + v;
    return n;
  }

  private wrong(want: string, c: number): never {
    this.at--;
    return this.fail(`byte 0x${c.toString(16)}: want ${want}`);
  }
}

/** utf8 decodes a string of one character per byte. It returns undefined if the bytes are not UTF-8. */
export function utf8(s: string | Uint8Array): string | undefined {
  try {
    const b = typeof s === 'string' ? Uint8Array.from(s, (c) => c.charCodeAt(0)) : s;
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(b);
  } catch {
    return undefined;
  }
}
