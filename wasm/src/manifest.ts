import { InferPrepError, type ErrorCode } from './errors.js';
import { dtypes, layouts } from './instance.js';
import { MsgpackError, Reader, utf8 } from './msgpack.js';
import { same, sha256 } from './sha256.js';
import type { Tensor, TensorType } from './tensor.js';

// docs/format/bundle.md describes the format. This file accepts and refuses
// the same manifests as format.go of Go's package modelbundle.

export const headerBytes = 64;
export const signatureBytes = 128;
export const version = 1;

/** The largest size of a section that is parsed at opening, as in Go's DefaultLimits. */
export const maxParsed = 64 * 2 ** 20;

const magic = 'IPbundle';
const maxSections = 10_000, maxVersions = 256, maxOutputs = 100, maxValues = 64, maxText = 1024, maxName = 255, maxRank = 8;
const maxSize = 2n ** 60n; // of a section and of the file
const maxTensor = 2n ** 59n; // elements

/** The classes of exactness that a device may have. */
export type Exactness = 'exact' | 'within1' | 'approximate';
const classes: readonly string[] = ['exact', 'within1', 'approximate'] satisfies Exactness[];

/** Section describes a named part of a bundle. */
export interface Section {
  /** `graph`, `labels`, `meta`, `model/NAME`, `golden/NAME` or another name. */
  name: string;
  /** The format of a model, such as `onnx`; empty for other sections. */
  format: string;
  /** The position in the file. */
  offset: number;
  /** The number of bytes. */
  size: number;
  sha256: Uint8Array;
}

/** Golden is a sample with the tensors that training computed from it. Its input is the section `golden/` + name. */
export interface Golden {
  name: string;
  /** One or more of the graph's outputs, in their order. */
  outputs: Expected[];
}

/** Expected identifies the expected value of an output. */
export interface Expected {
  name: string;
  type: TensorType;
  layout: Tensor['layout'];
  dims: number[];
  /** The digest of the elements in row-major order, little-endian. */
  sha256: Uint8Array;
  /** Some elements, for messages: the index in row-major order, and the value. */
  values: { at: number; value: number }[];
}

/** Manifest is the content of a manifest. Offsets of sections count from base. */
export interface Manifest {
  least: Exactness;
  reference: string;
  versions: [string, string][];
  sections: Section[];
  goldens: Golden[];
}

/** fail throws an error of a part of a bundle. */
export function fail(code: ErrorCode, part: string, message: string, cause?: unknown): never {
  throw new InferPrepError(code, `infer-prep: bundle: ${part}: ${message}`, cause === undefined ? {} : { cause });
}

/** aligned rounds up to a multiple of 64. */
export const aligned = (n: number): number => Math.ceil(n / 64) * 64;

/** crc32c returns the CRC-32C of bytes. It is made for 60 of them. */
function crc32c(b: Iterable<number>): number {
  let c = -1;
  for (const v of b) {
    c ^= v;
    for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (c & 1 ? 0x82f63b78 : 0);
  }
  return ~c >>> 0;
}

/** Header is the first 64 bytes. */
export interface Header {
  /** The bytes of the signature: 0 or 128. */
  signature: number;
  /** The bytes of the manifest. */
  manifest: number;
  digest: Uint8Array;
}

/** readHeader reads the header of a file. */
export function readHeader(file: Uint8Array): Header {
  const part = 'header';
  if (file.length < magic.length || String.fromCharCode(...file.subarray(0, magic.length)) !== magic) {
    fail('graph', part, `not a bundle: the file does not start with "${magic}"`);
  }
  if (file.length < headerBytes) fail('graph', part, `truncated: the file has ${file.length} bytes`);
  const v = new DataView(file.buffer, file.byteOffset, headerBytes);
  if (v.getUint32(8, true) !== version) fail('unsupported', part, `version ${v.getUint32(8, true)}, this package reads ${version}`);
  if (v.getUint32(12, true) !== crc32c([...file.subarray(0, 12), ...file.subarray(16, headerBytes)])) {
    fail('digest', part, 'corrupt: the checksum differs');
  }
  if (v.getUint32(16, true) !== headerBytes) fail('graph', part, `the manifest starts at ${v.getUint32(16, true)}, want ${headerBytes}`);
  const signature = v.getUint32(20, true);
  if (signature !== 0 && signature !== signatureBytes) fail('graph', part, `a signature of ${signature} bytes, want 0 or ${signatureBytes}`);
  const n = v.getBigUint64(24, true);
  if (n > BigInt(file.length - headerBytes)) fail('graph', part, `a manifest of ${n} bytes in a file of ${file.length}`);
  return { signature, manifest: Number(n), digest: file.slice(32, 64) };
}

/** readManifest checks the digest of the manifest, reads it and validates it. */
export async function readManifest(raw: Uint8Array, digest: Uint8Array): Promise<Manifest> {
  if (raw.length > maxParsed) fail('limit', 'manifest', `${raw.length} bytes, the limit is ${maxParsed}`);
  if (!same(await sha256(raw), digest)) fail('digest', 'manifest', `corrupt: the SHA-256 of ${raw.length} bytes differs`);
  try {
    return parse(new Reader(raw));
  } catch (e) {
    if (e instanceof MsgpackError) fail('graph', 'manifest', `offset ${headerBytes + e.offset}: ${e.message}`);
    throw e;
  }
}

const invalid = (message: string): never => fail('graph', 'manifest', message);

/** list calls f for every element of an array of at most limit elements. */
function list<T>(r: Reader, limit: number, f: () => T): T[] {
  return Array.from({ length: r.count(limit) }, f);
}

function parse(r: Reader): Manifest {
  r.tuple(5);
  const least = r.text(maxText), reference = r.text(maxText);
  const versions = list(r, maxVersions, () => { r.tuple(2); return [r.text(maxText), r.text(maxText)] as const; });
  const sections = list(r, maxSections, () => {
    r.tuple(5);
    return { name: r.text(maxName), format: r.text(maxName), offset: r.int(), size: r.int(), sha256: r.data(32).slice() };
  });
  const goldens = list(r, maxSections, () => {
    r.tuple(2);
    return { name: r.text(maxName), outputs: list(r, maxOutputs, () => expected(r)) };
  });
  if (r.left > 0) r.fail(`${r.left} bytes after its end`);

  if (!classes.includes(least)) invalid(`class "${least}", want one of ${classes.join(', ')}`);
  versions.forEach(([library, v], i) => {
    if (library === '' || utf8(library + v) === undefined) invalid(`library ${i}: want a name, and UTF-8`);
    if (i > 0 && versions[i - 1]![0] >= library) invalid(`library ${i}: want each once and in order`);
  });
  const decoded = utf8(reference) ?? invalid('the reference is not UTF-8');
  return {
    least: least as Exactness,
    reference: decoded,
    versions: versions.map(([l, v]) => [shown(l), shown(v)]),
    sections: checkSections(sections, goldens),
    goldens: goldens.map((g) => ({ name: shown(g.name), outputs: g.outputs })),
  };
}

/** shown decodes a text for people. */
const shown = (s: string): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(s, (c) => c.charCodeAt(0)));

interface RawSection { name: string; format: string; offset: bigint; size: bigint; sha256: Uint8Array }

function checkSections(sections: RawSection[], goldens: { name: string }[]): Section[] {
  let end = 0n, graph = false, golden = 0;
  const out = sections.map((s, i) => {
    const name = checkName(s.name);
    const what = `section "${name}"`;
    if (i > 0 && sections[i - 1]!.name >= s.name) invalid(`${what}: want each once and in order`);
    if (!/^[a-z0-9]{0,32}$/.test(s.format)) invalid(`${what}: format "${s.format}", want at most 32 lower-case letters and digits`);
    if (s.name.startsWith('model/') !== (s.format !== '')) invalid(`${what} has format "${s.format}"; models have one, other sections must not`);
    const want = (end + 63n) / 64n * 64n;
    if (s.size < 0n || s.size > maxSize) invalid(`${what} has an impossible size, ${s.size} bytes`);
    if (s.offset !== want) {
      const how = s.offset > want ? 'leaves a gap' : s.offset >= end ? 'is not aligned' : 'overlaps the section before it';
      invalid(`${what} at ${s.offset} ${how}, want it at ${want}`);
    }
    end = s.offset + s.size;
    if (end > maxSize) invalid(`${what} ends at ${end}, want at most ${maxSize}`);
    graph ||= s.name === 'graph';
    if (s.name.startsWith('golden/')) {
      if (goldens[golden]?.name !== s.name.slice('golden/'.length)) invalid(`${what} belongs to no golden sample`);
      golden++;
    }
    return { name, format: s.format, offset: Number(s.offset), size: Number(s.size), sha256: s.sha256 };
  });
  if (!graph) invalid('no section "graph"');
  if (golden < goldens.length) invalid(`golden sample "${shown(goldens[golden]!.name)}" has no section`);
  return out;
}

/** checkName refuses section names that cannot be file names, and returns the others decoded. */
function checkName(raw: string): string {
  const s = utf8(raw);
  // eslint-disable-next-line no-control-regex
  if (s === undefined || s === '' || s === 'manifest' || /[\x00-\x1f\x7f-\x9f\\]/.test(s) || s.split('/').some((p) => p === '' || p === '.' || p === '..')) {
    return invalid(`section name ${JSON.stringify(shown(raw))}: want UTF-8 without control characters, backslashes and empty, "." or ".." parts, other than "manifest"`);
  }
  return s;
}

function expected(r: Reader): Expected {
  r.tuple(6);
  const name = r.text(maxName), dtype = r.uint8(), layout = r.uint8();
  const dims = list(r, maxRank, () => r.int());
  const digest = r.data(32).slice();
  const values = list(r, maxValues, () => { r.tuple(2); return { at: r.int(), value: r.float() }; });

  const type = dtypes[dtype], order = layouts[layout];
  const elements = dims.reduce((n, d) => (d === 0n ? n : n * d), 1n);
  if (type === undefined || type === 'invalid' || order === undefined || dims.some((d) => d < 0n) ||
      (type === 'bytes' && (dims.length > 0 || order !== 'none')) || (order !== 'none' && dims.length !== 3) ||
      elements >= 2n ** 63n || (!dims.includes(0n) && elements > maxTensor)) {
    return invalid(`output "${shown(name)}" of a golden sample: dtype ${dtype}, layout ${layout}, shape (${dims.join(', ')})`);
  }
  const n = type === 'bytes' || dims.includes(0n) ? 0n : elements;
  values.forEach((v, i) => {
    if (v.at < 0n || v.at >= n || (i > 0 && v.at <= values[i - 1]!.at)) {
      invalid(`output "${shown(name)}" of a golden sample: element ${v.at} of ${n}, want each once and in order`);
    }
  });
  return {
    name: shown(name), type, layout: order, dims: dims.map(Number), sha256: digest,
    values: values.map((v) => ({ at: Number(v.at), value: v.value })),
  };
}
