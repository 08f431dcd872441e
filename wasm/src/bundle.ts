import { InferPrepError } from './errors.js';
import type { Input } from './inputs.js';
import { aligned, fail, headerBytes, maxParsed, readHeader, readManifest, signatureBytes, version, type Exactness, type Expected, type Golden, type Header, type Manifest, type Section } from './manifest.js';
import { Reader, utf8 } from './msgpack.js';
import type { Graph, Result, RunOptions } from './open-graph.js';
import { randomOps } from './random_gen.js';
import { hex, same, sha256 } from './sha256.js';
import { keyID, publicKey, verifyEd25519 } from './signature.js';
import type { Tensor } from './tensor.js';
import type { DeviceGraph, GPUDeviceLike } from './webgpu.js';

/** Model is a model in a bundle. */
export interface Model {
  /** For example `model.onnx`. */
  name: string;
  /** `onnx`, `tflite` or another word. */
  format: string;
  /** The file: a view of the bundle, which must not be changed. */
  data: Uint8Array;
}

/** Mismatch is an output of a golden sample that differs from the expected one. */
export interface Mismatch {
  golden: string;
  output: string;
  want: Pick<Expected, 'type' | 'layout' | 'dims'>;
  got: Pick<Expected, 'type' | 'layout' | 'dims'>;
  /** The index along each axis of the first kept element that differs. Absent if none of them does. */
  at?: number[];
  /** The values of that element. */
  wantValue?: number;
  gotValue?: number;
}

/** openBundle opens a bundle. open opens its graph. */
export async function openBundle(open: (graph: Uint8Array) => Promise<Graph>, file: Uint8Array): Promise<Bundle> {
  const header = readHeader(file);
  const end = headerBytes + header.manifest;
  const manifest = await readManifest(file.subarray(headerBytes, end), header.digest);
  const base = aligned(end);
  for (const s of manifest.sections) s.offset += base;
  const signer = await checkEnd(file, header, manifest);
  const sections = new Sections(file, manifest.sections);
  const raw = await sections.parsed('graph');
  let graph: Graph;
  try {
    graph = await open(raw!);
  } catch (e) {
    if (!(e instanceof InferPrepError)) throw e;
    return fail(e.code, 'section "graph"', e.message, e);
  }
  try {
    checkGraph(raw!, manifest, graph);
    const labels = await sections.parsed('labels'), meta = await sections.parsed('meta');
    return new Bundle(graph, manifest, header, sections, signer, labels ? parseLabels(labels) : [], meta ? parseMeta(meta) : {});
  } catch (e) {
    graph.dispose();
    throw e;
  }
}

/** Signer is what the signature at the end of a file says. */
interface Signer {
  key: Uint8Array;
  signature: Uint8Array;
  message: Uint8Array;
  /** False if the engine has no Ed25519. */
  checked: boolean;
}

/** checkEnd checks the size of the file, the zeros between the sections, and the signature. */
async function checkEnd(file: Uint8Array, header: Header, manifest: Manifest): Promise<Signer | undefined> {
  const last = manifest.sections[manifest.sections.length - 1]!; // a manifest has the section graph
  const body = aligned(last.offset + last.size);
  for (const s of manifest.sections) {
    if (s.offset + s.size > file.length) {
      fail('graph', `section "${s.name}"`, `${s.size} bytes at ${s.offset} extend beyond the file of ${file.length} bytes`);
    }
  }
  if (body + header.signature !== file.length) fail('graph', 'file', `${file.length} bytes, want ${body + header.signature}`);
  let end = headerBytes + header.manifest;
  for (const s of [...manifest.sections, undefined]) {
    if (file.subarray(end, aligned(end)).some((v) => v !== 0)) fail('graph', 'padding', `at offset ${end}: want zeros`);
    if (s) end = s.offset + s.size;
  }
  if (header.signature === 0) return undefined;
  const part = 'signature';
  const raw = file.slice(body, body + signatureBytes);
  const view = new DataView(raw.buffer);
  if (String.fromCharCode(...raw.subarray(0, 8)) !== 'IPsigned') fail('graph', part, 'it does not start with "IPsigned"');
  if (view.getUint32(8, true) !== 1) fail('unsupported', part, `algorithm ${view.getUint32(8, true)}, this package knows 1 (Ed25519)`);
  if (view.getUint32(12, true) !== 0 || raw.subarray(112).some((v) => v !== 0)) fail('graph', part, 'its padding is not zero');
  const message = new Uint8Array(72);
  message.set(new TextEncoder().encode('infer-prep bundle signature\0IPbundle'));
  message[36] = version;
  message.set(header.digest, 40);
  const key = raw.slice(16, 48), signature = raw.slice(48, 112);
  const valid = await verifyEd25519(key, message, signature);
  if (valid === false) fail('signature', part, 'it does not match the manifest and the key beside it');
  return { key, signature, message, checked: valid === true };
}

/** checkGraph checks the graph, which the module has opened, against the manifest. */
function checkGraph(raw: Uint8Array, manifest: Manifest, graph: Graph): void {
  const bad = (message: string): never => fail('graph', 'section "graph"', message);
  const r = new Reader(raw);
  r.count(7);
  r.int();
  const reference = utf8(r.text(1024));
  if (reference !== manifest.reference) bad(`reference "${reference}", the manifest has "${manifest.reference}"`);
  r.skip(); // the inputs
  for (let steps = r.count(1000); steps > 0; steps--) {
    r.tuple(5);
    const op = r.text(64);
    if (randomOps.includes(op)) bad(`the graph has random ops: ${op}`);
    for (let i = 0; i < 4; i++) r.skip();
  }
  const names = graph.outputs.map((o) => o.name);
  for (const g of manifest.goldens) {
    let last = -1;
    for (const { name } of g.outputs) {
      const i = names.indexOf(name);
      if (i < 0) bad(`golden sample "${g.name}" has an output "${name}", the graph has ${names.join(', ')}`);
      if (i <= last) bad(`golden sample "${g.name}" has output "${name}" twice or out of order, want the order ${names.join(', ')}`);
      last = i;
    }
    if (last < 0) bad(`golden sample "${g.name}" has no outputs`);
  }
}

function parseLabels(b: Uint8Array): string[] {
  const s = utf8(b);
  if (s === undefined || !s.endsWith('\n') || s.includes('\r')) {
    return fail('graph', 'section "labels"', 'want lines of UTF-8 that each end with a line feed');
  }
  const lines = s.slice(0, -1).split('\n');
  return lines.length <= 2 ** 20 ? lines : fail('graph', 'section "labels"', `${lines.length} labels, want at most ${2 ** 20}`);
}

/** parseMeta reads a JSON object of strings. JSON.parse alone accepts two members of one name. */
function parseMeta(b: Uint8Array): Record<string, string> {
  const bad = (message: string): never => fail('graph', 'section "meta"', message);
  const s = utf8(b) ?? bad('not UTF-8');
  // eslint-disable-next-line no-control-regex
  const token = /[ \t\r\n]*(?:([{}:,])|("(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|$)/y;
  const next = (): string => {
    const m = token.exec(s) ?? bad('want a JSON object of strings');
    return m[1] ?? m[2] ?? '';
  };
  const text = (t: string): string => {
    if (!t.startsWith('"')) bad('want a JSON object of strings');
    return (JSON.parse(t) as string).replace(/\p{Surrogate}/gu, '\ufffd'); // as Go reads them
  };
  const all = new Map<string, string>();
  if (next() !== '{') bad('want a JSON object of strings');
  for (let t = next(); t !== '}';) {
    const key = text(t);
    if (all.has(key)) bad(`member ${JSON.stringify(key)}: want it once`);
    if (next() !== ':') bad('want a JSON object of strings');
    all.set(key, text(next()));
    t = next();
    if (t === '}') break;
    if (t !== ',') bad('want a JSON object of strings');
    t = next();
    if (t === '}') bad('want a JSON object of strings');
  }
  if (next() !== '') bad('data after the object');
  return Object.fromEntries(all);
}

/** Sections are the sections of a file. */
class Sections {
  private readonly checked = new Map<string, Promise<Uint8Array>>();
  private readonly named: Map<string, Section>;

  constructor(private readonly file: Uint8Array, readonly all: readonly Section[]) {
    this.named = new Map(all.map((s) => [s.name, s]));
  }

  /** get returns a section as a view of the file, undefined if there is none. The first call checks the digest. */
  async get(name: string): Promise<Uint8Array | undefined> {
    const s = this.named.get(name);
    if (!s) return undefined;
    let data = this.checked.get(name);
    if (!data) this.checked.set(name, data = this.check(s));
    return data;
  }

  async parsed(name: string): Promise<Uint8Array | undefined> {
    const s = this.named.get(name);
    if (s && s.size > maxParsed) fail('limit', `section "${name}"`, `${s.size} bytes, the limit is ${maxParsed}`);
    return this.get(name);
  }

  private async check(s: Section): Promise<Uint8Array> {
    const data = this.file.subarray(s.offset, s.offset + s.size);
    if (data.length !== s.size) fail('input', `section "${s.name}"`, 'the buffer is detached: it was transferred to a Worker or elsewhere');
    if (!same(await sha256(data), s.sha256)) fail('digest', `section "${s.name}"`, `corrupt: the SHA-256 of ${s.size} bytes differs`);
    return data;
  }
}

/**
 * Bundle is an open bundle: a model with its preprocessing. Opening checks the
 * header, the manifest, the graph, the labels, the metadata and the signature.
 * Every other section is checked on first use. Nobody may change the bytes
 * while the bundle is in use.
 */
export class Bundle {
  /** What the graph reproduces. */
  readonly reference: string;
  /** The versions of the libraries that training preprocessed with, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** The least exact class that a device may have. */
  readonly least: Exactness;
  /** The SHA-256 of the manifest in hexadecimal. Bundles of equal digests have equal content. */
  readonly digest: string;
  /** The golden samples, by name. */
  readonly goldens: readonly Golden[];
  /** The models, by name. {@link Bundle.model} returns their data. */
  readonly models: readonly Omit<Model, 'data'>[];
  /**
   * The key that made the signature in the file; undefined if there is none.
   * Anyone can sign a bundle: see {@link Bundle.verifySignature}.
   */
  readonly signer: Uint8Array | undefined;
  /**
   * The checks that opening left out because the engine lacks WebCrypto's
   * Ed25519, or the page's context is insecure: `signature`, or none.
   */
  readonly unchecked: readonly 'signature'[];
  private readonly signed: Signer | undefined;
  private readonly parts: Sections;

  /** @internal */
  constructor(
    /** The preprocessing. */
    readonly graph: Graph,
    manifest: Manifest, header: Header, sections: Sections, signer: Signer | undefined,
    /** The names of the model's classes, by index; empty if the bundle has none. */
    readonly labels: readonly string[],
    /** The metadata. */
    readonly meta: Readonly<Record<string, string>>,
  ) {
    this.reference = manifest.reference;
    this.versions = Object.fromEntries(manifest.versions);
    this.least = manifest.least;
    this.digest = hex(header.digest);
    this.goldens = manifest.goldens;
    this.models = manifest.sections.filter((s) => s.name.startsWith('model/')).map((s) => ({ name: s.name.slice('model/'.length), format: s.format }));
    this.signed = signer;
    this.signer = signer?.key;
    this.unchecked = signer && !signer.checked ? ['signature'] : [];
    this.parts = sections;
  }

  /** The sections, by name. */
  get sections(): readonly Section[] { return this.parts.all; }

  /** run runs {@link Bundle.graph}. */
  run(input: Input | Record<string, Input>, options?: RunOptions): Promise<Result> {
    return this.graph.run(input, options);
  }

  /** section returns a section as a view of the file, which must not be changed. The first call checks its digest. */
  async section(name: string): Promise<Uint8Array> {
    return await this.parts.get(name) ?? fail('param', `section "${name}"`, `no such section: the bundle has ${this.sections.map((s) => s.name).join(', ')}`);
  }

  /** model returns a model; without a name, the only one. */
  async model(name?: string): Promise<Model> {
    const names = this.models.map((m) => m.name).join(', ');
    if (name === undefined && this.models.length !== 1) {
      fail('param', 'model', this.models.length === 0 ? 'the bundle has no model' : `no name given: the bundle has ${names}`);
    }
    const m = this.models.find((v) => name === undefined || v.name === name);
    if (!m) return fail('param', `model "${name}"`, `no such model: the bundle has ${names || 'none'}`);
    return { ...m, data: await this.section(`model/${m.name}`) };
  }

  /**
   * verifySignature verifies the signature in the file with a key: 32 bytes, or
   * a PEM file as a string. It throws an error of code `signature` if there is
   * no signature or another key made it, and one of code `unsupported` if the
   * engine has no Ed25519, as in insecure contexts.
   *
   * The signature covers the manifest, and through its digests all sections,
   * which are checked when they are used.
   */
  async verifySignature(key: Uint8Array | ArrayBuffer | string): Promise<void> {
    const want = publicKey(key), s = this.signed;
    if (!s) return fail('signature', 'signature', 'the bundle is not signed');
    if (!same(want, s.key)) fail('signature', 'signature', `it is by the key ${await keyID(s.key)}, want ${await keyID(want)}`);
    const valid = await verifyEd25519(want, s.message, s.signature);
    if (valid === undefined) {
      fail('unsupported', 'signature', 'not checked: WebCrypto has no Ed25519 here; it needs https or localhost, and Chrome 137, Firefox 129, Safari 17 or newer');
    }
    if (!valid) fail('signature', 'signature', 'it does not match the manifest and the key');
  }

  /**
   * verify checks the digest of every section, runs the golden samples, and
   * compares the digests of the outputs. An error names all differences. Its
   * code is `digest` if sections are corrupt, else `golden`. Its cause is the
   * list of {@link Mismatch}.
   */
  async verify(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    const errors: string[] = [], differ: Mismatch[] = [], corrupt = new Set<string>();
    for (const { name } of this.sections) {
      signal?.throwIfAborted();
      try {
        await this.section(name);
      } catch (e) {
        if (!(e instanceof InferPrepError) || e.code !== 'digest') throw e;
        errors.push(e.message.replace('infer-prep: bundle: ', ''));
        corrupt.add(name);
      }
    }
    for (const g of this.goldens) {
      signal?.throwIfAborted();
      if (corrupt.has(`golden/${g.name}`)) continue;
      try {
        const input = await this.section(`golden/${g.name}`);
        const { outputs } = await this.graph.run(input, { batch: false, ...(signal && { signal }) });
        for (const e of g.outputs) {
          const m = await compare(g.name, e, outputs[e.name]!);
          if (!m) continue;
          differ.push(m);
          errors.push(describe(m));
        }
      } catch (e) {
        if (!(e instanceof InferPrepError) || e.code === 'disposed') throw e;
        errors.push(`golden sample "${g.name}": ${e.message}`);
      }
    }
    if (errors.length > 0) {
      throw new InferPrepError(corrupt.size > 0 ? 'digest' : 'golden', `infer-prep: bundle: verify: ${errors.join('\n')}`, { cause: differ });
    }
  }

  /**
   * onDevice is {@link Graph.onDevice} of the graph, proven with the golden
   * samples: the host's tensors equal the expected ones, and the device's equal
   * the host's. A bundle without golden samples is proven as a graph is.
   */
  async onDevice(device: GPUDeviceLike): Promise<DeviceGraph> {
    await this.verify();
    const samples = await Promise.all(this.goldens.map((g) => this.section(`golden/${g.name}`)));
    return this.graph.onDevice(device, samples.length > 0 ? { samples } : {});
  }

  /** dispose closes the graph. */
  dispose(): void { this.graph.dispose(); }
}

/** compare returns a mismatch if t does not have the expected digest. */
async function compare(golden: string, e: Expected, t: Tensor): Promise<Mismatch | undefined> {
  const { type, layout, dims } = e;
  const m: Mismatch = { golden, output: e.name, want: { type, layout, dims }, got: { type: t.type, layout: t.layout, dims: t.dims } };
  if (type !== t.type || layout !== t.layout || dims.length !== t.dims.length || dims.some((d, i) => d !== t.dims[i])) return m;
  if (same(await sha256(new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength)), e.sha256)) return undefined;
  if (type === 'bytes') return m;
  const first = e.values.find((v) => !Object.is(value(t, v.at), v.value));
  return first ? { ...m, at: position(dims, first.at), wantValue: first.value, gotValue: value(t, first.at) } : m;
}

/** describe returns the text of a mismatch. */
function describe(m: Mismatch): string {
  const desc = (d: Mismatch['want']): string => `${d.type}${d.layout === 'none' ? '' : ` ${d.layout}`} (${d.dims.join(', ')})`;
  const s = `golden sample "${m.golden}": output "${m.output}" `;
  if (desc(m.want) !== desc(m.got)) return `${s}is ${desc(m.got)}, want ${desc(m.want)}`;
  if (!m.at) return `${s}differs in an element that the bundle does not keep`;
  return `${s}at (${m.at.join(', ')}): got ${m.gotValue}, want ${m.wantValue}`;
}

/** value returns an element as a number. */
function value(t: Tensor, at: number): number {
  const v = Number(t.data[at]!);
  if (t.type === 'bfloat16') return new Float32Array(Uint32Array.of(v << 16).buffer)[0]!;
  if (t.type !== 'float16') return v;
  const sign = v & 0x8000 ? -1 : 1, exponent = (v >> 10) & 31, fraction = v & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** position turns an index in row-major order into one along each axis. */
function position(dims: number[], at: number): number[] {
  const p: number[] = [];
  for (let i = dims.length - 1; i >= 0; i--) {
    const n = Math.max(dims[i]!, 1);
    p[i] = at % n;
    at = Math.floor(at / n);
  }
  return p;
}
