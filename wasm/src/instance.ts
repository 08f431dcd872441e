import { InferPrepError, type ErrorCode } from './errors.js';
import { wasi } from './wasi.js';

/** The exports of the module; wasm/abi.go documents them. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  alloc(size: number): number;
  free(at: number): void;
  failure(): number;
  failure_size(): number;
  open(at: number, size: number, pixels: number, bytes: number): number;
  opened(): number;
  close(graph: number): void;
  tensors(): number;
  describe(graph: number): number;
  sizes(graph: number, height: number, width: number): number;
  run(graph: number, table: number): number;
  trace(graph: number, table: number): number;
  probe(at: number, size: number): number;
  takes_pixels(graph: number, input: number): number;
  // Of the full build.
  gpu_open?(graph: number, bytes: number, groups: number): number;
  gpu_run?(graph: number, table: number): number;
  gpu_program?(): number;
  gpu_source?: () => number;
  gpu_source_size?: () => number;
  stream_open?(graph: number, rate: number, channels: number): number;
  stream_push?(stream: number, encoding: number, at: number, size: number): number;
  stream_end?(stream: number): number;
  stream_close?(stream: number): void;
}

/** The kinds of error in the order of abi.go. */
const codes: ErrorCode[] = ['internal', 'internal', 'format', 'unsupported', 'limit', 'graph', 'unknown-op', 'param', 'input'];

/** The dtypes in the order of tensor.DType. */
export const dtypes = [
  'invalid', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64',
  'float16', 'bfloat16', 'float32', 'float64', 'bool', 'bytes',
] as const;

/** The layouts in the order of tensor.Layout. */
export const layouts = ['none', 'HWC', 'CHW'] as const;

/** The modes of a decoded file in the order of codec.Mode. */
export const modes = ['none', 'L', 'LA', 'P', 'RGB', 'RGBA', 'CMYK', 'I;16'] as const;

/** RawTensor is a tensor in the module's memory, or of a description. */
export interface RawTensor {
  name: string;
  step: number;
  dtype: (typeof dtypes)[number];
  layout: (typeof layouts)[number];
  /** The sizes; -1 if unknown. */
  dims: number[];
  /** A view of the module's memory, valid until the next call. Empty in descriptions. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** RawInput is an input of a run: an encoded image, or the elements of a tensor. */
export type RawInput =
  | { bytes: Uint8Array }
  | { bytes: Uint8Array; dtype: (typeof dtypes)[number]; layout: (typeof layouts)[number]; dims: number[] };

/** Header is what the header of an image says. */
export interface Header {
  width: number;
  height: number;
  mode: (typeof modes)[number];
  /** EXIF's orientation, 1 to 8. */
  orientation: number;
  /** The format and its variant: "jpeg baseline 4:2:0". */
  kind: string;
}

/** Commands are what a GPU is to do for a run. Their views are valid until the next call. */
export interface Commands {
  /** The buffers that the run uses. The contents of a buffer last while every run uses it. */
  buffers: { buffer: number; size: number }[];
  uploads: { buffer: number; data: Uint8Array<ArrayBuffer> }[];
  /** The kernels, in order, after all uploads. */
  kernels: { kernel: number; output: number; input: number; table: number; groups: [number, number]; uniform: Uint32Array<ArrayBuffer> }[];
  /** The outputs and side outputs: the step is the number of the buffer, or 0 if the bytes are here. */
  outputs: RawTensor[];
}

const entry = 16; // values of a table per tensor: 8, and 8 sizes

/** align rounds a size up to the alignment of every dtype. */
const align = (n: number): number => (n + 7) & ~7;

/**
 * Instance is an instance of the module. Its calls are synchronous. After a
 * trap it is dead: every later call throws an error of code "internal".
 */
export class Instance {
  private readonly exports: Exports;
  private dead: unknown;
  /** The host's buffer in the module's memory, kept from call to call. */
  private buffer = { at: 0, size: 0 };

  private constructor(instance: WebAssembly.Instance, private readonly output: () => string) {
    this.exports = instance.exports as unknown as Exports;
  }

  /** create instantiates a module. */
  static async create(module: WebAssembly.Module): Promise<Instance> {
    const { imports, output } = wasi(() => instance.exports.memory as WebAssembly.Memory);
    const instance = await WebAssembly.instantiate(module, imports);
    const i = new Instance(instance, output);
    i.guarded(() => i.exports._initialize());
    return i;
  }

  /** The bytes of the module's memory. It never shrinks. */
  get memoryBytes(): number { return this.exports.memory.buffer.byteLength; }

  /** alive reports whether the instance can be called. */
  get alive(): boolean { return this.dead === undefined; }

  /** open opens a graph and returns its handle. A limit of 0 is the default. */
  open(graph: Uint8Array, limits: { pixels: number; bytes: number }): number {
    return this.guarded(() => {
      const at = this.exports.alloc(graph.length);
      try {
        this.view(at, graph.length).set(graph);
        this.check(this.exports.open(at, graph.length, limits.pixels, limits.bytes));
        return this.exports.opened();
      } finally {
        this.exports.free(at);
      }
    });
  }

  /** close closes a graph. */
  close(graph: number): void {
    if (this.alive) this.guarded(() => this.exports.close(graph));
  }

  /** describe describes a graph's inputs (step 0), outputs (1) and side outputs (2). */
  describe(graph: number): RawTensor[] {
    return this.guarded(() => {
      this.check(this.exports.describe(graph));
      return this.table();
    });
  }

  /** sizes describes a graph's outputs and side outputs for an image of a height and a width. */
  sizes(graph: number, height: number, width: number): RawTensor[] {
    return this.guarded(() => {
      this.check(this.exports.sizes(graph, height, width));
      return this.table();
    });
  }

  /** run runs a graph. The result is valid until the next call. */
  run(graph: number, inputs: RawInput[]): RawTensor[] {
    return this.guarded(() => {
      this.check(this.exports.run(graph, this.write(inputs)));
      return this.table();
    });
  }

  /** trace runs a graph and returns the outputs of every step, valid until the next call. */
  trace(graph: number, inputs: RawInput[]): RawTensor[] {
    return this.guarded(() => {
      this.check(this.exports.trace(graph, this.write(inputs)));
      return this.table();
    });
  }

  /** takesPixels reports whether decoded pixels may take the place of a file, with the same result. */
  takesPixels(graph: number, input: number): boolean { return this.guarded(() => this.exports.takes_pixels(graph, input) === 1); }

  /** gpuSource returns the kernels in WGSL. The small build has none. */
  gpuSource(): string | undefined {
    const { gpu_source, gpu_source_size } = this.exports;
    return gpu_source && gpu_source_size && this.guarded(() => this.text(gpu_source(), gpu_source_size()));
  }

  /** gpuOpen prepares a graph for runs on a GPU with these limits. */
  gpuOpen(graph: number, bytes: number, groups: number): void {
    this.guarded(() => { this.check(this.exports.gpu_open!(graph, bytes, groups)); });
  }

  /** gpuRun runs the steps of the host and returns the commands for the GPU. */
  gpuRun(graph: number, inputs: RawInput[]): Commands {
    return this.guarded(() => {
      this.check(this.exports.gpu_run!(graph, this.write(inputs)));
      const { buffer } = this.exports.memory;
      let at = this.exports.gpu_program!();
      const take = (n: number): Uint32Array<ArrayBuffer> => {
        at += 4 * n;
        return new Uint32Array(buffer, at - 4 * n, n);
      };
      const [buffers, uploads, kernels] = take(3) as unknown as [number, number, number];
      const list = <T>(n: number, f: () => T): T[] => Array.from({ length: n }, f);
      return {
        buffers: list(buffers, () => {
          const [number, size] = take(2) as unknown as [number, number];
          return { buffer: number, size };
        }),
        uploads: list(uploads, () => {
          const [number, from, size] = take(3) as unknown as [number, number, number];
          return { buffer: number, data: this.view(from, size) };
        }),
        kernels: list(kernels, () => {
          const [kernel, output, input, table, x, y] = take(6) as unknown as [number, number, number, number, number, number];
          return { kernel, output, input, table, groups: [x, y] as [number, number], uniform: take(16) };
        }),
        outputs: this.table(),
      };
    });
  }

  /** streamOpen opens a stream of samples, and describes its outputs: the step is 1 plus the axis, or 0. */
  streamOpen(graph: number, rate: number, channels: number): { handle: number; outputs: RawTensor[] } {
    return this.guarded(() => {
      if (!this.exports.stream_open) throw new InferPrepError('unsupported', "infer-prep: stream: the small build has no sounds; init({ build: 'full' }) has them");
      this.check(this.exports.stream_open(graph, rate, channels));
      return { handle: this.exports.opened(), outputs: this.table() };
    });
  }

  /** streamPush passes interleaved samples of float32 or int16 to a stream. The result is valid until the next call. */
  streamPush(stream: number, float: boolean, samples: Uint8Array): RawTensor[] {
    return this.guarded(() => {
      const at = this.reserve(samples.length);
      this.view(at, samples.length).set(samples);
      this.check(this.exports.stream_push!(stream, float ? 8 : 2, at, samples.length)); // sound.F32LE and S16LE
      return this.table();
    });
  }

  /** streamEnd ends and closes a stream. The result is valid until the next call. */
  streamEnd(stream: number): RawTensor[] {
    return this.guarded(() => {
      this.check(this.exports.stream_end!(stream));
      return this.table();
    });
  }

  /** streamClose closes a stream. */
  streamClose(stream: number): void {
    if (this.alive) this.guarded(() => this.exports.stream_close!(stream));
  }

  /** probe reads the header of an image. */
  probe(image: Uint8Array): Header {
    return this.guarded(() => {
      const at = this.reserve(image.length);
      this.view(at, image.length).set(image);
      this.check(this.exports.probe(at, image.length));
      const [width, height, mode, orientation, text, size] = new Uint32Array(this.exports.memory.buffer, this.exports.tensors(), 6) as unknown as
        [number, number, number, number, number, number];
      return { width, height, mode: modes[mode]!, orientation, kind: this.text(text, size) };
    });
  }

  /** release frees the host's buffer. */
  release(): void {
    if (this.alive && this.buffer.at !== 0) this.guarded(() => this.exports.free(this.buffer.at));
    this.buffer = { at: 0, size: 0 };
  }

  private view(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.exports.memory.buffer, at, size);
  }

  private text(at: number, size: number): string { return new TextDecoder().decode(this.view(at, size)); }

  /** reserve returns the address of a buffer of at least size bytes. */
  private reserve(size: number): number {
    if (this.buffer.size < size) {
      if (this.buffer.at !== 0) this.exports.free(this.buffer.at);
      this.buffer = { at: 0, size: 0 };
      this.buffer = { at: this.exports.alloc(size), size };
    }
    return this.buffer.at;
  }

  /** write writes inputs and their table, and returns the table's address. */
  private write(inputs: RawInput[]): number {
    const head = align(4 * (1 + entry * inputs.length));
    const at = this.reserve(inputs.reduce((size, i) => size + align(i.bytes.length), head));
    const table = new Int32Array(this.exports.memory.buffer, at, 1 + entry * inputs.length).fill(0);
    table[0] = inputs.length;
    let next = at + head;
    inputs.forEach((input, i) => {
      const e = table.subarray(1 + i * entry);
      e[3] = dtypes.indexOf('dtype' in input ? input.dtype : 'bytes');
      e[5] = next;
      e[6] = input.bytes.length;
      if ('dtype' in input) {
        if (input.dims.length > entry - 8) {
          throw new InferPrepError('input', `infer-prep: run: input ${i} has ${input.dims.length} axes: must be at most ${entry - 8}`);
        }
        e[4] = layouts.indexOf(input.layout);
        e[7] = input.dims.length;
        e.set(input.dims, 8);
      }
      this.view(next, input.bytes.length).set(input.bytes);
      next += align(input.bytes.length);
    });
    return at;
  }

  private table(): RawTensor[] {
    const at = this.exports.tensors();
    const buffer = this.exports.memory.buffer;
    const n = new Uint32Array(buffer, at, 1)[0]!;
    const t = new Int32Array(buffer, at + 4, n * entry);
    const list: RawTensor[] = [];
    for (let i = 0; i < n; i++) {
      const e = t.subarray(i * entry, (i + 1) * entry);
      list.push({
        name: this.text(e[0]! >>> 0, e[1]!), step: e[2]!, dtype: dtypes[e[3]!]!, layout: layouts[e[4]!]!,
        bytes: this.view(e[5]! >>> 0, e[6]! >>> 0), dims: Array.from(e.subarray(8, 8 + e[7]!)),
      });
    }
    return list;
  }

  private check(status: number): void {
    if (status === 0) return;
    throw new InferPrepError(codes[status] ?? 'internal', this.text(this.exports.failure(), this.exports.failure_size()));
  }

  /** guarded calls f, and marks the instance dead if the module traps. */
  private guarded<T>(f: () => T): T {
    if (this.dead !== undefined) {
      throw new InferPrepError('internal', 'infer-prep: the instance ended after an error; create another', { cause: this.dead });
    }
    try {
      return f();
    } catch (e) {
      if (e instanceof InferPrepError) throw e;
      this.dead = e ?? true;
      const output = this.output();
      const text = /^(fatal error|panic): .*/m.exec(output)?.[0] ?? String(e);
      throw new InferPrepError(text.includes('out of memory') ? 'limit' : 'internal', `infer-prep: the module ended: ${text}`,
        { cause: new Error(`${String(e)}\n${output}`, { cause: e }) });
    }
  }
}
