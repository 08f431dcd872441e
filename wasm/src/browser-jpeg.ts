/**
 * intact reports whether a JPEG has the structure of a complete file: every
 * restart marker in its place, EOI after the last scan, no unusual segments,
 * and all bits of all coefficients. It does not decode the entropy-coded data.
 *
 * Decoders differ in how they treat other files, such as truncated ones.
 */
export function intact(b: Uint8Array): boolean {
  if (b[0] !== 0xff || b[1] !== 0xd8) return false;
  const word = (at: number): number => b[at]! << 8 | b[at + 1]!;
  let frame: Frame | undefined;
  let interval = 0, scans = 0;
  for (let p = 2; p + 4 <= b.length + 2;) {
    const marker = b[p + 1]!;
    if (b[p] !== 0xff) return false;
    if (marker === 0xd9) return frame?.components.every((c) => c.bits.every((v) => v === 0)) === true;
    const size = word(p + 2), at = p + 4, end = p + 2 + size;
    if (size < 2 || end > b.length) return false;
    switch (marker) {
      case 0xc0: case 0xc1: case 0xc2:
        if (frame !== undefined) return false;
        frame = frameOf(b.subarray(at, end), marker === 0xc2);
        if (frame === undefined) return false;
        break;
      case 0xc4:
        break;
      case 0xdd:
        if (size !== 4) return false;
        interval = word(at);
        break;
      case 0xda: {
        const units = frame && scan(frame, b.subarray(at, end));
        if (!units || ++scans > 100) return false; // real files have some ten
        p = entropyEnd(b, end, interval > 0 ? Math.ceil(units / interval) - 1 : 0);
        if (p < 0) return false;
        continue;
      }
      default: // DQT, APPn and COM
        if (marker !== 0xdb && marker !== 0xfe && marker >> 4 !== 0xe || scans > 0) return false;
    }
    p = end;
  }
  return false;
}

/** hasProfile reports whether a JPEG has an ICC profile before its first scan. */
export function hasProfile(b: Uint8Array): boolean {
  for (let p = 2; b[p] === 0xff && b[p + 1] !== 0xda && p + 16 <= b.length; p += 2 + (b[p + 2]! << 8 | b[p + 3]!)) {
    if (b[p + 1] === 0xe2 && String.fromCharCode(...b.subarray(p + 4, p + 15)) === 'ICC_PROFILE') return true;
  }
  return false;
}

interface Component {
  id: number;
  h: number;
  v: number;
  /** The lowest bit that is known of each coefficient; -1 before its first scan. */
  bits: Int8Array;
}

interface Frame {
  width: number;
  height: number;
  progressive: boolean;
  components: Component[];
}

function frameOf(s: Uint8Array, progressive: boolean): Frame | undefined {
  const n = s[5]!;
  if (s.length !== 6 + 3 * n || s[0] !== 8 || n !== 1 && n !== 3) return undefined;
  const components = Array.from({ length: n }, (_, i) => ({
    id: s[6 + 3 * i]!, h: s[7 + 3 * i]! >> 4, v: s[7 + 3 * i]! & 15, bits: new Int8Array(64).fill(-1),
  }));
  const valid = new Set(components.map((c) => c.id)).size === n && components.every(({ h, v }) => h >= 1 && h <= 4 && v >= 1 && v <= 4);
  const f = { height: s[1]! << 8 | s[2]!, width: s[3]! << 8 | s[4]!, progressive, components };
  return valid && f.width > 0 && f.height > 0 ? f : undefined;
}

/** scan notes the coefficients of a scan, and returns its number of MCUs. It returns undefined if a scan is out of order. */
function scan(f: Frame, s: Uint8Array): number | undefined {
  const n = s[0]!;
  if (n < 1 || n > f.components.length || s.length !== 4 + 2 * n) return undefined;
  const from = s[1 + 2 * n]!, to = s[2 + 2 * n]!, high = s[3 + 2 * n]! >> 4, low = s[3 + 2 * n]! & 15;
  const valid = f.progressive ? (from === 0 ? to === 0 : from <= to && to <= 63 && n === 1) : from === 0 && to === 63 && high === 0 && low === 0;
  if (!valid || high > 0 && low !== high - 1) return undefined;
  const list: Component[] = [];
  for (let i = 0; i < n; i++) {
    const c = f.components.find(({ id }) => id === s[1 + 2 * i]);
    if (!c || list.includes(c)) return undefined;
    list.push(c);
    for (let k = from; k <= to; k++) {
      if (c.bits[k] !== (high > 0 ? high : -1) || k > 0 && c.bits[0] === -1 && from > 0) return undefined;
      c.bits[k] = low;
    }
  }
  const h = Math.max(...f.components.map((c) => c.h)), v = Math.max(...f.components.map((c) => c.v));
  if (n > 1) return Math.ceil(f.width / (8 * h)) * Math.ceil(f.height / (8 * v));
  const c = list[0]!;
  return Math.ceil(Math.ceil(f.width * c.h / h) / 8) * Math.ceil(Math.ceil(f.height * c.v / v) / 8);
}

/** entropyEnd returns the position of the marker after a scan's data, or -1 if a restart marker is not in its place. */
function entropyEnd(b: Uint8Array, from: number, restarts: number): number {
  let seen = 0;
  for (let p = from; ;) {
    p = b.indexOf(0xff, p);
    if (p < 0 || p + 1 >= b.length) return -1;
    const next = b[p + 1]!;
    if (next >> 3 === 0xd0 >> 3) {
      if ((next & 7) !== (seen++ & 7)) return -1;
    } else if (next !== 0) {
      return next !== 0xff && seen === restarts ? p : -1;
    }
    p += 2;
  }
}
