import { InferPrepError } from './errors.js';
import { portable, withHeader, type Input } from './inputs.js';
import type { Commands, Instance } from './instance.js';
import type { Local, Machine } from './machine.js';
import { arrays, copied, type Tensor } from './tensor.js';

/** GPUDeviceLike is a GPUDevice of WebGPU. */
export interface GPUDeviceLike {
  readonly queue: object;
  readonly limits: object;
  /** Makes a buffer. */
  createBuffer(d: { size: number; usage: number }): object;
}

/** GPUBufferLike is a GPUBuffer of WebGPU. */
export interface GPUBufferLike {
  readonly size: number;
  readonly mapState: 'unmapped' | 'pending' | 'mapped';
  /** Frees the buffer's memory. */
  destroy(): void;
}

/**
 * DeviceTensor is a tensor in a buffer of a GPU. onnxruntime-web takes it:
 * `ort.Tensor.fromGpuBuffer(t.buffer, { dataType: t.type, dims: t.dims, dispose: t.dispose })`.
 * Its device is `await ort.env.webgpu.device`, once a session exists.
 */
export interface DeviceTensor extends Omit<Tensor, 'data'> {
  /** The elements, from the buffer's start on. The buffer may be longer. It belongs to the caller. */
  buffer: GPUBufferLike;
  /** Copies the elements to the host. */
  download(): Promise<Tensor>;
  /** Destroys the buffer. */
  dispose(): void;
}

/** DeviceResult is the outputs of a graph in buffers of a GPU, and the side outputs, which the host has. */
export interface DeviceResult extends DeviceTensor {
  outputs: Record<string, DeviceTensor>;
  sideOutputs: Record<string, Tensor>;
}

/** The options of {@link Graph.onDevice}. */
export interface DeviceOptions {
  /**
   * The inputs of the proof. Default: two images of noise, which only graphs of
   * one encoded image take.
   */
  samples?: (Input | Record<string, Input>)[];
}

/** DeviceProof says how a GPU's results were compared with the host's. */
export interface DeviceProof {
  /** The samples. The bytes of all their outputs are equal. */
  samples: number;
  bytes: number;
  /** The time of the samples on the device, with reading back, and on the host. */
  deviceMilliseconds: number;
  hostMilliseconds: number;
}

// The parts of WebGPU that are used. TypeScript 5.9 has no types for them.
interface Device {
  limits: { maxStorageBufferBindingSize: number; maxBufferSize: number; maxComputeWorkgroupsPerDimension: number };
  queue: { writeBuffer(b: Buffer, at: number, data: BufferSource): void; submit(l: object[]): void };
  lost: Promise<{ message: string }>;
  createBuffer(d: { size: number; usage: number }): Buffer;
  createShaderModule(d: { code: string }): object;
  createBindGroupLayout(d: object): object;
  createPipelineLayout(d: object): object;
  createComputePipelineAsync(d: object): Promise<object>;
  createBindGroup(d: object): object;
  createCommandEncoder(): {
    beginComputePass(): { setPipeline(p: object): void; setBindGroup(i: number, g: object): void; dispatchWorkgroups(x: number, y: number): void; end(): void };
    copyBufferToBuffer(a: Buffer, at: number, b: Buffer, to: number, size: number): void;
    finish(): object;
  };
  pushErrorScope(kind: string): void;
  popErrorScope(): Promise<{ message: string } | null>;
}

interface Buffer extends GPUBufferLike {
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
}

/** The numbers of GPUBufferUsage, GPUMapMode and GPUShaderStage. */
const mapRead = 1, copySource = 4, copyTarget = 8, uniform = 64, storage = 128, read = 1, compute = 4;

/** The entry points in the order of internal/gpu. */
const kernels = ['horizontal', 'vertical', 'pick', 'lookup'];

/**
 * DeviceGraph is a graph whose last steps run on a GPU, as integer kernels with
 * the bytes of the host. {@link Graph.onDevice} makes it. Runs that exceed the
 * device's limits reject with an error of code `unsupported`.
 */
export class DeviceGraph {
  private readonly buffers = new Map<number, Buffer>();
  private owner: Instance | undefined;
  private lost: string | undefined;
  private found: DeviceProof = { samples: 0, bytes: 0, deviceMilliseconds: 0, hostMilliseconds: 0 };

  private constructor(
    private readonly machine: Machine, private readonly program: Local, private readonly device: Device,
    private readonly layout: object, private readonly pipelines: object[], private readonly listed: Listed,
  ) {
    void device.lost.then((e) => { this.lost = e.message || 'the device was destroyed'; });
  }

  /** @internal */
  static async create(machine: Machine, program: Local, given: GPUDeviceLike, options: DeviceOptions, listed: Listed): Promise<DeviceGraph> {
    const device = given as unknown as Device;
    const code = await machine.use(program, [], undefined, (i) => i.gpuSource());
    if (code === undefined) throw new InferPrepError('unsupported', "infer-prep: onDevice: the small build has no GPU steps; use init({ build: 'full' })");
    const module = device.createShaderModule({ code });
    const layout = device.createBindGroupLayout({
      entries: ['read-only-storage', 'storage', 'uniform', 'read-only-storage'].map((type, binding) => ({ binding, visibility: compute, buffer: { type } })),
    });
    const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
    const pipelines = await Promise.all(kernels.map((entryPoint) => device.createComputePipelineAsync({ layout: pipelineLayout, compute: { module, entryPoint } })));
    const g = new DeviceGraph(machine, await machine.open(program.graph), device, layout, pipelines, listed);
    try {
      await g.prove(options.samples ?? noise());
    } catch (e) {
      g.dispose();
      throw e;
    }
    return g;
  }

  /** The proof that the device's results are the host's. */
  get proof(): DeviceProof { return this.found; }

  /** run is {@link Graph.run} with results on the device. */
  async run(input: Input | Record<string, Input>, options: { signal?: AbortSignal; batch?: boolean } = {}): Promise<DeviceResult> {
    const { signal, batch = true } = options;
    const inputs = await Promise.all(this.listed.inputs(input).map((i) => portable(i, this.machine.limits.input, signal)));
    if (this.lost !== undefined) throw new InferPrepError('internal', `infer-prep: run: the GPU device was lost: ${this.lost}`);
    // No other run of the device's queue comes between: f does not wait.
    const { result, errors } = await this.machine.use(this.program, inputs, signal, (i, raw) => {
      if (this.owner !== i) {
        const { maxStorageBufferBindingSize: a, maxBufferSize: b, maxComputeWorkgroupsPerDimension: groups } = this.device.limits;
        i.gpuOpen(this.program.handle, Math.min(a, b), groups);
        this.owner = i;
        this.clear();
      }
      const commands = i.gpuRun(this.program.handle, raw);
      this.device.pushErrorScope('out-of-memory');
      this.device.pushErrorScope('validation');
      this.submit(commands);
      const errors = [this.device.popErrorScope(), this.device.popErrorScope()];
      return { errors, result: this.results(commands, batch) };
    });
    for (const [n, e] of (await Promise.all(errors)).entries()) {
      if (!e) continue;
      this.clear();
      this.owner = undefined; // the kept buffers may be invalid
      throw new InferPrepError(n === 1 ? 'limit' : 'internal', `infer-prep: run: the GPU reports: ${e.message}`);
    }
    return result;
  }

  /** dispose closes the graph and destroys its buffers. Those of results stay. */
  dispose(): void {
    this.clear();
    this.machine.close(this.program);
  }

  private clear(): void {
    for (const b of this.buffers.values()) b.destroy();
    this.buffers.clear();
  }

  private submit(c: Commands): void {
    const { device, buffers } = this;
    const used = new Set(c.buffers.map((b) => b.buffer));
    for (const [n, b] of buffers) {
      if (used.has(n)) continue;
      b.destroy();
      buffers.delete(n);
    }
    for (const { buffer, size } of c.buffers) {
      if (!buffers.has(buffer)) buffers.set(buffer, device.createBuffer({ size, usage: storage | copySource | copyTarget }));
    }
    for (const { buffer, data } of c.uploads) {
      // Whole words; bytes behind the data are never read.
      const whole = data.length & ~3, last = new Uint8Array(4);
      if (whole > 0) device.queue.writeBuffer(buffers.get(buffer)!, 0, data.subarray(0, whole));
      last.set(data.subarray(whole));
      if (whole < data.length) device.queue.writeBuffer(buffers.get(buffer)!, whole, last);
    }
    const encoder = device.createCommandEncoder();
    const uniforms = c.kernels.map((k) => {
      const u = device.createBuffer({ size: 64, usage: uniform | copyTarget });
      device.queue.writeBuffer(u, 0, k.uniform);
      const bound = [buffers.get(k.input)!, buffers.get(k.output)!, u, buffers.get(k.table)!];
      const pass = encoder.beginComputePass();
      pass.setPipeline(this.pipelines[k.kernel]!);
      pass.setBindGroup(0, device.createBindGroup({ layout: this.layout, entries: bound.map((buffer, binding) => ({ binding, resource: { buffer } })) }));
      pass.dispatchWorkgroups(...k.groups);
      pass.end();
      return u;
    });
    device.queue.submit([encoder.finish()]);
    for (const u of uniforms) u.destroy();
  }

  /** results hands the outputs' buffers to the caller; the next run takes others. */
  private results(c: Commands, batch: boolean): DeviceResult {
    const outputs: [string, DeviceTensor][] = [], sideOutputs: [string, Tensor][] = [];
    const axis = (n: number, dims: number[]): number[] => (batch && this.listed.stacked[n] ? [1, ...dims] : dims);
    c.outputs.forEach((t, n) => {
      if (t.step === 0) {
        const host = copied(t);
        sideOutputs.push([t.name, { ...host, dims: axis(n, host.dims) }]);
        return;
      }
      const buffer = this.buffers.get(t.step)!, type = t.dtype as Tensor['type'], { layout } = t, dims = axis(n, t.dims);
      outputs.push([t.name, {
        buffer, type, layout, dims,
        download: async () => ({ data: new arrays[type](await this.download(buffer, dims.reduce((a, b) => a * b, arrays[type].BYTES_PER_ELEMENT))), type, layout, dims }),
        dispose: () => { buffer.destroy(); },
      }]);
    });
    for (const t of c.outputs) this.buffers.delete(t.step);
    return { ...outputs[0]![1], outputs: Object.fromEntries(outputs), sideOutputs: Object.fromEntries(sideOutputs) };
  }

  private async download(from: Buffer, bytes: number): Promise<ArrayBuffer> {
    const size = (bytes + 3) & ~3, to = this.device.createBuffer({ size: Math.max(size, 4), usage: mapRead | copyTarget });
    try {
      const encoder = this.device.createCommandEncoder();
      encoder.copyBufferToBuffer(from, 0, to, 0, size);
      this.device.queue.submit([encoder.finish()]);
      await to.mapAsync(read);
      return to.getMappedRange().slice(0, bytes);
    } catch (cause) {
      throw new InferPrepError('internal', `infer-prep: download: ${this.lost ?? String(cause)}`, { cause });
    } finally {
      to.destroy();
    }
  }

  private async prove(samples: (Input | Record<string, Input>)[]): Promise<void> {
    for (const sample of samples) {
      const start = performance.now();
      const r = await this.run(sample, { batch: false });
      const got = await Promise.all(Object.entries(r.outputs).map(async ([name, t]) => {
        const host = await t.download();
        t.dispose();
        return [name, host] as const;
      }));
      const middle = performance.now();
      const inputs = await Promise.all(this.listed.inputs(sample).map((i) => portable(i, this.machine.limits.input)));
      const want = await this.machine.run(this.program, inputs);
      this.found.deviceMilliseconds += middle - start;
      this.found.hostMilliseconds += performance.now() - middle;
      this.found.samples++;
      for (const [name, t] of [...got, ...Object.entries(r.sideOutputs)]) {
        const w = want.find((o) => o.name === name)!;
        const a = new Uint8Array(t.data.buffer), b = new Uint8Array(w.data.buffer);
        if (t.dims.join() !== w.dims.join() || a.length !== b.length || a.some((v, k) => v !== b[k])) {
          throw new InferPrepError('golden', `infer-prep: onDevice: the GPU computes other bytes than the host for output "${name}" of sample ${this.found.samples - 1}`);
        }
        this.found.bytes += a.length;
      }
    }
  }
}

/** Listed is what a DeviceGraph needs of its Graph. */
export interface Listed {
  inputs(input: Input | Record<string, Input>): Input[];
  stacked: boolean[];
}

/** Two images of noise, in the form of Go's package codec/pixels. */
const noise = (): Uint8Array<ArrayBuffer>[] => [[61, 47], [480, 333]].map(([width, height]) => {
  const data = new Uint8Array(width! * height! * 4);
  let x = 1;
  for (let i = 0; i < data.length; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    data[i] = x >>> 24;
  }
  return withHeader({ data, width: width!, height: height!, mode: 'RGB' });
});
