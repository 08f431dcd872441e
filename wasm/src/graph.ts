import { InferPrepError, type ErrorCode } from './errors.js';
import { dtypes, layouts } from './instance.js';
import { enums, table, type Ops } from './ops_gen.js';
import type { Columns, Step } from './step.js';
import { didYouMean, hint } from './suggest.js';
import type { Tensor, TensorType } from './tensor.js';

export { InferPrepError, type ErrorCode };
export type * from './ops_gen.js';
export type * from './step.js';

/**
 * GraphDefinition is a graph as data, in the JSON form that
 * `infer-prep graph import` prints.
 */
export interface GraphDefinition {
  /** The version of the form: 1. */
  infer_prep_graph: number;
  /** Says for people what the graph reproduces. */
  reference?: string;
  /** The columns given to a run. */
  inputs: readonly GraphInput[];
  /** The steps, in order. */
  steps: readonly Step[];
  /** The columns passed to the model. */
  outputs: readonly string[];
  /** Further columns for the program, such as the scale of a letterbox. */
  side_outputs?: readonly string[];
  /** The outputs of which a batch is not a stack. */
  batch?: readonly BatchRule[];
  /** The columns that move with an image. */
  roles?: readonly ColumnRole[];
}

/** GraphInput describes an input. */
export interface GraphInput {
  name: string;
  /** `bytes` for an encoded image. */
  dtype: TensorType | (string & {});
  layout: Tensor['layout'] | (string & {});
  /** The sizes; -1 if unknown. */
  shape: readonly number[];
}

/** ColumnRole says how a column moves with the image of another column. */
export interface ColumnRole {
  column: string;
  image: string;
  role: 'image' | 'mask' | 'boxes' | 'keypoints' | (string & {});
  /** The format of boxes, which need it: `xyxy`. */
  format?: string;
  /** How boxes are clamped to the image: `soft`, `hard` or `none`. Boxes need it. */
  clamping?: string;
}

/** BatchRule says how a batch of an output is formed. */
export interface BatchRule {
  column: string;
  rule: 'stack' | 'pad' | 'concat' | 'single' | (string & {});
  /** The padding of `pad`. */
  value: number;
}

/**
 * The ops. `ops.resize({ height: 224, width: 224 })` returns a step with the
 * defaults of the other parameters.
 */
export const ops: Ops = /* @__PURE__ */ makeOps();

function makeOps(): Ops {
  const all: Record<string, (params?: object, columns?: Columns) => Step> = {};
  for (const [op, [version, inputs, outputs, ...params]] of Object.entries(table)) {
    all[op] = (given = {}, columns = {}) => {
      const usual = Object.fromEntries(params.filter((p) => p.includes('=')).map((p) => [p.slice(0, p.indexOf(':')), JSON.parse(p.slice(p.indexOf('=') + 1)) as unknown]));
      return {
        op, version, in: columns.in ?? inputs.split(' '), out: columns.out ?? outputs.split(' '),
        // A parameter of undefined is one that is not given.
        params: { ...usual, ...Object.fromEntries(Object.entries(given).filter(([, v]) => v !== undefined)) },
      };
    };
  }
  return all as unknown as Ops;
}

/**
 * graph returns a graph that applies steps to an encoded image. The input and
 * the output are the column `image`; further outputs of the ops become side
 * outputs. Change the fields of the result for other graphs.
 */
export function graph(...steps: Step[]): GraphDefinition {
  const side = new Set<string>();
  for (const s of steps) for (const name of s.out.slice(1)) side.add(name);
  return {
    infer_prep_graph: 1,
    inputs: [{ name: 'image', dtype: 'bytes', layout: 'none', shape: [] }],
    steps,
    outputs: ['image'],
    ...(side.size > 0 && { side_outputs: [...side] }),
  };
}

/**
 * rename returns a graph whose first output has another name, usually that of
 * the model's input. The last step that writes the column writes the new name.
 */
export function rename(g: GraphDefinition, name: string): GraphDefinition {
  const [old, ...others] = g.outputs;
  const at = g.steps.map((s) => s.out.includes(old!)).lastIndexOf(true);
  const changed = (l: readonly string[]): string[] => l.map((c) => (c === old ? name : c));
  return {
    ...g,
    steps: g.steps.map((s, i) => ({ ...s, in: at >= 0 && i > at ? changed(s.in) : s.in, out: i === at ? changed(s.out) : s.out })),
    outputs: [name, ...others],
    ...(g.batch && { batch: g.batch.map((b) => (b.column === old ? { ...b, column: name } : b)) }),
  };
}

/**
 * encode returns the msgpack form of a graph, which `InferPrep.graph` takes. A
 * graph may be given as the text of a JSON file. Every parameter must be there;
 * {@link ops} fills in the defaults. encode checks names and types; opening the
 * graph checks values and shapes.
 */
export function encode(definition: GraphDefinition | string): Uint8Array<ArrayBuffer> {
  const w = new Writer();
  const g = object(typeof definition === 'string' ? parsed(definition) : definition, 'graph', 'graph',
    ['infer_prep_graph', 'inputs', 'steps', 'outputs'], ['reference', 'side_outputs', 'batch', 'roles']) as unknown as GraphDefinition;
  if (g.infer_prep_graph !== 1) bad('graph', `infer_prep_graph is ${show(g.infer_prep_graph)}, this package reads 1`);
  const batch = g.batch ? array(g.batch, 'batch') : [];
  const roles = g.roles ? array(g.roles, 'roles') : [];
  w.array(roles.length > 0 ? 8 : batch.length > 0 ? 7 : 6);
  w.int(1n);
  w.text(text(g.reference ?? '', 'reference'));
  const inputs = array(g.inputs, 'inputs');
  w.array(inputs.length);
  inputs.forEach((v, i) => {
    const where = `inputs[${i}]`;
    const c = object(v, where, 'graph', ['name', 'dtype', 'layout', 'shape']);
    w.array(4);
    w.text(text(c.name, `${where}.name`));
    w.uint(BigInt(enumerated(dtypes, c.dtype, `${where}.dtype`, 'graph')));
    w.uint(BigInt(enumerated(layouts, c.layout, `${where}.layout`, 'graph')));
    const shape = array(c.shape, `${where}.shape`);
    w.array(shape.length);
    shape.forEach((n, j) => w.int(whole(n, `${where}.shape[${j}]`, 'graph', -(2n ** 63n), 2n ** 63n)));
  });
  const steps = array(g.steps, 'steps');
  w.array(steps.length);
  steps.forEach((v, i) => {
    const s = object(v, `steps[${i}]`, 'graph', ['op', 'version', 'in', 'out', 'params'], ['moves']);
    const moves = s.moves ? array(s.moves, `step ${i}: moves`) : [];
    writeOp(w, s, `step ${i}`, () => {
      columns(w, s.in, `step ${i}: in`);
      columns(w, s.out, `step ${i}: out`);
    }, 0, moves.length > 0 ? 6 : 5);
    if (moves.length > 0) columns(w, moves, `step ${i}: moves`);
  });
  columns(w, g.outputs, 'outputs');
  columns(w, g.side_outputs ?? [], 'side_outputs');
  if (batch.length > 0 || roles.length > 0) w.array(batch.length);
  batch.forEach((v, i) => {
    const b = object(v, `batch[${i}]`, 'graph', ['column', 'rule', 'value']);
    w.array(3);
    w.text(text(b.column, `batch[${i}].column`));
    w.uint(BigInt(enumerated(['stack', 'pad', 'concat', 'single'], b.rule, `batch[${i}].rule`, 'graph')));
    w.float(float(b.value, `batch[${i}].value`, 'graph'));
  });
  if (roles.length > 0) w.array(roles.length);
  roles.forEach((v, i) => {
    const where = `roles[${i}]`;
    const boxes = (v as ColumnRole | null)?.role === 'boxes';
    const r = object(v, where, 'graph', ['column', 'image', 'role', ...(boxes ? ['format', 'clamping'] : [])]);
    w.array(5);
    w.text(text(r.column, `${where}.column`));
    w.text(text(r.image, `${where}.image`));
    w.uint(BigInt(enumerated(['image', 'mask', 'boxes', 'keypoints'], r.role, `${where}.role`, 'graph')));
    w.uint(BigInt(boxes ? enumerated(enums.CoordFormat.split(' '), r.format, `${where}.format`, 'graph') : 0));
    w.uint(BigInt(boxes ? enumerated(enums.Clamping.split(' '), r.clamping, `${where}.clamping`, 'graph') : 0));
  });
  return w.bytes();
}

const maxDepth = 8; // of lists of ops, as in Go

/** writeOp writes a step or an op of a list. */
function writeOp(w: Writer, s: Record<string, unknown>, where: string, middle?: () => void, depth = 0, length = 3): void {
  const name = text(s.op, `${where}: op`);
  const entry = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!entry) return bad('unknown-op', `${where}: unknown op ${show(name)}${hint(name, Object.keys(table))}`);
  const [version, , , ...params] = entry;
  where = `${where} (${name})`;
  if (s.version !== version) bad('unknown-op', `${where}: version ${show(s.version)}: this package has version ${version}`);
  w.array(length);
  w.text(name);
  w.int(BigInt(version));
  middle?.();
  const known = params.map((p) => p.slice(0, p.indexOf(':')));
  if (typeof s.params !== 'object' || s.params === null || Array.isArray(s.params)) bad('param', `${where}: params: want an object`);
  const given = s.params as Record<string, unknown>;
  for (const k of Object.keys(given).sort()) {
    if (known.length === 0) bad('param', `${where}: unknown parameter ${show(k)}: expected no parameters`);
    if (!known.includes(k)) bad('param', `${where}: unknown parameter ${show(k)}${hint(k, known)}`);
  }
  w.array(params.length);
  params.forEach((p, i) => {
    const value = given[known[i]!];
    const [kind, usual] = p.slice(known[i]!.length + 1).split(/=(.*)/s) as [string, string?];
    if (value === undefined || value === null) {
      bad('param', `${where}: parameter "${known[i]}" is missing${usual === undefined ? '' : `; its usual value is ${usual}`}`);
    }
    write(w, kind, value, `${where}: ${known[i]}`, depth);
  });
}

/** write writes a value of a kind of {@link table}. */
function write(w: Writer, kind: string, v: unknown, where: string, depth: number): void {
  const list = /^(.*)\[(\d*)\]$/.exec(kind);
  if (list) {
    const l = array(v, where, 'param');
    if (list[2] !== '' && l.length !== Number(list[2])) bad('param', `${where}: ${l.length} values, want ${list[2]}`);
    w.array(l.length);
    l.forEach((x, i) => write(w, list[1]!, x, `${where}[${i}]`, depth));
    return;
  }
  switch (kind) {
    case 'bool':
      if (typeof v !== 'boolean') bad('param', `${where}: ${show(v)}: want true or false`);
      w.bool(v);
      return;
    case 'text':
      if (typeof v !== 'string') bad('param', `${where}: ${show(v)}: want a string`);
      w.text(v);
      return;
    case 'int': w.int(whole(v, where, 'param', -(2n ** 63n), 2n ** 63n)); return;
    case 'uint': w.uint(whole(v, where, 'param', 0n, 2n ** 64n)); return;
    case 'float': w.float(float(v, where, 'param')); return;
    case 'float32': w.float32(float(v, where, 'param')); return;
    case 'op':
      if (depth === maxDepth) bad('param', `${where}: lists of ops are nested deeper than ${maxDepth}`);
      // A step of ops.NAME() may stand in a list; its columns have no meaning there.
      writeOp(w, object(v, where, 'param', ['op', 'version', 'params'], ['in', 'out']), where, undefined, depth + 1);
      return;
    case 'set': {
      let bits = 0;
      for (const x of array(v, where, 'param')) bits |= 1 << enumerated(enums.RefusedKind.split(' '), x, where, 'param');
      w.uint(BigInt(bits));
      return;
    }
    default:
      w.uint(BigInt(enumerated(enums[kind as keyof typeof enums].split(' '), v, where, 'param')));
  }
}

function bad(code: ErrorCode, message: string): never {
  throw new InferPrepError(code, `infer-prep: graph: ${message}`);
}

/** show returns a value for a message. */
function show(v: unknown): string {
  if (typeof v === 'object' && v !== null) return Array.isArray(v) ? 'a list' : 'an object';
  const s = typeof v === 'string' ? JSON.stringify(v) : String(v);
  return s.length > 100 ? `${s.slice(0, 100)}…` : s;
}

function parsed(s: string): unknown {
  try {
    return JSON.parse(s);
  } catch (cause) {
    throw new InferPrepError('graph', `infer-prep: graph: not JSON: ${String(cause)}`, { cause });
  }
}

/** object checks the keys of an object. */
function object(v: unknown, where: string, code: ErrorCode, want: string[], may: string[] = []): Record<string, unknown> {
  if (typeof v !== 'object' || v === null || Array.isArray(v)) bad(code, `${where}: ${show(v)}: want an object`);
  const o = v as Record<string, unknown>, known = [...want, ...may];
  for (const k of Object.keys(o)) if (!known.includes(k)) bad(code, `${where}: unknown field ${show(k)}${hint(k, known)}`);
  for (const k of want) if (o[k] === undefined || o[k] === null) bad(code, `${where}: field "${k}" is missing`);
  return o;
}

function array(v: unknown, where: string, code: ErrorCode = 'graph'): readonly unknown[] {
  return Array.isArray(v) ? v : bad(code, `${where}: ${show(v)}: want a list`);
}

function text(v: unknown, where: string): string {
  return typeof v === 'string' ? v : bad('graph', `${where}: ${show(v)}: want a string`);
}

function float(v: unknown, where: string, code: ErrorCode): number {
  return typeof v === 'number' && Number.isFinite(v) ? v : bad(code, `${where}: ${show(v)}: want a finite number`);
}

/** whole returns an integer of min to limit-1. */
function whole(v: unknown, where: string, code: ErrorCode, min: bigint, limit: bigint): bigint {
  if (typeof v === 'number' && Number.isInteger(v) && !Number.isSafeInteger(v)) {
    bad(code, `${where}: ${v}: a number has too few bits for it, want a bigint`);
  }
  const n = typeof v === 'bigint' ? v : typeof v === 'number' && Number.isInteger(v) ? BigInt(v) : bad(code, `${where}: ${show(v)}: want a whole number`);
  return n >= min && n < limit ? n : bad(code, `${where}: ${n}: want ${min} to ${limit - 1n}`);
}

function enumerated(values: readonly string[], v: unknown, where: string, code: ErrorCode): number {
  const known = values.filter((n) => n !== '-' && n !== 'invalid');
  if (typeof v === 'string' && known.includes(v)) return values.indexOf(v);
  return bad(code, `${where}: ${show(v)}: want one of ${known.join(', ')}${typeof v === 'string' ? didYouMean(v, known) : ''}`);
}

function columns(w: Writer, v: unknown, where: string): void {
  const l = array(v, where);
  w.array(l.length);
  l.forEach((c, i) => w.text(text(c, `${where}[${i}]`)));
}

/** Writer writes msgpack with the widths that Go's msgp chooses. */
class Writer {
  private buffer = new DataView(new ArrayBuffer(1024));
  private size = 0;

  bytes(): Uint8Array<ArrayBuffer> { return new Uint8Array(this.buffer.buffer, 0, this.size).slice(); }

  array(n: number): void { this.head(n, 0x90, 15, 0xdc, false); }

  text(s: string): void {
    const b = new TextEncoder().encode(s);
    this.head(b.length, 0xa0, 31, 0xd9, true);
    const at = this.grow(b.length);
    new Uint8Array(this.buffer.buffer, at, b.length).set(b);
  }

  bool(v: boolean): void { this.put(1, (b, at) => b.setUint8(at, v ? 0xc3 : 0xc2)); }

  float(v: number): void {
    this.put(1, (b, at) => b.setUint8(at, 0xcb));
    this.put(8, (b, at) => b.setFloat64(at, v));
  }

  float32(v: number): void {
    this.put(1, (b, at) => b.setUint8(at, 0xca));
    this.put(4, (b, at) => b.setFloat32(at, v));
  }

  /** uint writes an unsigned integer of 64 bits. */
  uint(v: bigint): void {
    if (v < 0x80n) this.byte(Number(v));
    else if (v < 2n ** 8n) { this.byte(0xcc); this.byte(Number(v)); }
    else if (v < 2n ** 16n) { this.byte(0xcd); this.put(2, (b, at) => b.setUint16(at, Number(v))); }
    else if (v < 2n ** 32n) { this.byte(0xce); this.put(4, (b, at) => b.setUint32(at, Number(v))); }
    else { this.byte(0xcf); this.put(8, (b, at) => b.setBigUint64(at, v)); }
  }

  /** int writes a signed integer of 64 bits. */
  int(v: bigint): void {
    if (v >= -32n && v < 0x80n) this.byte(Number(v) & 0xff);
    else if (v >= -(2n ** 7n) && v < 0n) { this.byte(0xd0); this.put(1, (b, at) => b.setInt8(at, Number(v))); }
    else if (v >= -(2n ** 15n) && v < 2n ** 15n) { this.byte(0xd1); this.put(2, (b, at) => b.setInt16(at, Number(v))); }
    else if (v >= -(2n ** 31n) && v < 2n ** 31n) { this.byte(0xd2); this.put(4, (b, at) => b.setInt32(at, Number(v))); }
    else { this.byte(0xd3); this.put(8, (b, at) => b.setBigInt64(at, v)); }
  }

  private byte(v: number): void { this.put(1, (b, at) => b.setUint8(at, v)); }

  /** head writes a length: in the first byte up to max, else in 1 (if narrow), 2 or 4 bytes. */
  private head(n: number, fixed: number, max: number, first: number, narrow: boolean): void {
    if (n <= max) { this.byte(fixed | n); return; }
    if (narrow && n < 2 ** 8) { this.byte(first); this.byte(n); return; }
    if (narrow) first++;
    if (n < 2 ** 16) { this.byte(first); this.put(2, (b, at) => b.setUint16(at, n)); return; }
    this.byte(first + 1);
    this.put(4, (b, at) => b.setUint32(at, n));
  }

  /** put writes n bytes with f, after the buffer has grown. */
  private put(n: number, f: (b: DataView, at: number) => void): void {
    const at = this.grow(n);
    f(this.buffer, at);
  }

  /** grow returns the offset of n more bytes. */
  private grow(n: number): number {
    const at = this.size;
    this.size += n;
    if (this.size > this.buffer.byteLength) {
      const more = new Uint8Array(Math.max(2 * this.buffer.byteLength, this.size));
      more.set(new Uint8Array(this.buffer.buffer, 0, at));
      this.buffer = new DataView(more.buffer);
    }
    return at;
  }
}
