import { cores, spawn } from '#platform';
import type { Decoding } from './decoding.js';
import { checked, type Column, type Description, type Engine, type Limits, type Output, type Program, type Trace } from './engine.js';
import { InferPrepError } from './errors.js';
import { sendable, type Portable } from './inputs.js';
import { decodeOf, InferPrep, moduleOf, type InitOptions } from './prep.js';
import type { Reply, Request, Thread, Value } from './thread.js';

/** The options of {@link createPool}. */
export interface PoolOptions extends InitOptions {
  /** The number of Workers, 1 to 64. Default: one less than the machine's cores, 1 to 4. */
  workers?: number;
  /**
   * Makes a Worker of the script `infer-prep/worker`: a Worker of the browser,
   * or a `worker_threads.Worker` in node. For bundlers that do not know
   * `new Worker(new URL(…, import.meta.url))`. Default: the package's script.
   */
  worker?: () => Worker;
}

/**
 * createPool is {@link init} with Workers: graphs and bundles of the returned
 * object run in them, each on one input at a time, and results are transferred
 * back. Each Worker has its own memory. Runs beyond the number of Workers wait
 * in order.
 *
 * A run that is aborted while it waits costs nothing. One that is aborted later
 * rejects at once, but its Worker finishes it. A Worker that ends is replaced.
 * In node, idle Workers do not keep the process alive.
 */
export async function createPool(options: PoolOptions = {}): Promise<InferPrep> {
  const { workers = Math.min(4, Math.max(1, cores() - 1)), worker } = options;
  if (!Number.isInteger(workers) || workers < 1 || workers > 64) {
    throw new InferPrepError('param', `infer-prep: createPool: workers is ${workers}: must be a whole number from 1 to 64`);
  }
  const limits = checked(options.limits), decode = decodeOf(options);
  const pool = new Pool(await moduleOf(options), limits, decode, worker);
  await pool.start(workers);
  return new InferPrep(pool, options);
}

/** Remote is a graph that Workers open at first use. */
interface Remote extends Program {
  readonly id: number;
  readonly graph: Uint8Array;
  columns: Column[];
  closed: boolean;
}

/** Job is a request that waits for a Worker, or for its reply. */
interface Job {
  program?: Remote;
  request(has: boolean): Request;
  transfer: Transferable[];
  resolve(v: Value): void;
  reject(e: unknown): void;
}

interface Member {
  thread: Thread;
  job: Job | undefined;
  has: Set<number>;
  memory: number;
}

class Pool implements Engine<Remote> {
  private readonly members = new Set<Member>();
  private queue: Job[] = [];
  private disposed = false;
  private programs = 0;

  constructor(private readonly module: WebAssembly.Module, readonly limits: Required<Limits>, private readonly decode: Decoding['decode'],
    private readonly make?: () => Worker) {}

  get memoryBytes(): number { return [...this.members].reduce((n, m) => n + m.memory, 0); }

  /** start starts n Workers. */
  async start(n: number): Promise<void> {
    try {
      await Promise.all(Array.from({ length: n }, () => this.add()));
    } catch (e) {
      this.dispose();
      throw e;
    }
  }

  async open(graph: Uint8Array): Promise<Remote> {
    const p: Remote = { id: ++this.programs, graph: graph.slice(), columns: [], closed: false };
    p.columns = await this.enqueue<Column[]>({ program: p, request: () => ({ call: 'open', program: p.id, graph: p.graph }), transfer: [] });
    return p;
  }

  async sizes(p: Remote, height: number, width: number): Promise<Description[]> {
    if (p.closed) throw closedGraph();
    return this.enqueue<Description[]>({
      program: p, request: (has) => ({ call: 'sizes', program: p.id, ...(has ? {} : { graph: p.graph }), height, width }), transfer: [],
    });
  }

  run(p: Remote, inputs: Portable[], signal?: AbortSignal): Promise<Output[]> { return this.call('run', p, inputs, signal); }

  trace(p: Remote, inputs: Portable[], signal?: AbortSignal): Promise<Trace[]> { return this.call('trace', p, inputs, signal); }

  decoding(): Promise<Decoding> { return this.enqueue<Decoding>({ request: () => ({ call: 'decoding' }), transfer: [] }); }

  close(p: Remote): void {
    p.closed = true;
    for (const m of this.members) if (m.has.delete(p.id)) m.thread.post({ call: 'close', program: p.id }, []);
  }

  dispose(): void {
    this.disposed = true;
    const jobs = [...this.queue, ...[...this.members].flatMap((m) => m.job ?? [])];
    for (const m of this.members) m.thread.end();
    this.members.clear();
    this.queue = [];
    for (const j of jobs) j.reject(gone());
  }

  private async call<T extends Value>(call: 'run' | 'trace', p: Remote, inputs: Portable[], signal?: AbortSignal): Promise<T> {
    if (p.closed) throw closedGraph();
    const sent = inputs.map((i) => sendable(i, this.limits.input));
    return this.enqueue<T>({
      program: p,
      request: (has) => ({ call, program: p.id, ...(has ? {} : { graph: p.graph }), inputs: sent.map((s) => s.value) }),
      transfer: sent.flatMap((s) => s.transfer),
    }, signal);
  }

  private enqueue<T extends Value>(j: Pick<Job, 'program' | 'request' | 'transfer'>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.disposed) {
        reject(gone());
        return;
      }
      const job: Job = {
        ...j,
        resolve: (v) => { signal?.removeEventListener('abort', abort); resolve(v as T); },
        reject: (e) => { signal?.removeEventListener('abort', abort); reject(e); },
      };
      const abort = (): void => {
        this.queue = this.queue.filter((q) => q !== job);
        job.reject(signal!.reason);
      };
      signal?.addEventListener('abort', abort);
      this.queue.push(job);
      if (this.members.size === 0) this.add().catch((e: unknown) => { this.fail(e); });
      this.pump();
    });
  }

  /** pump gives waiting jobs to idle Workers. */
  private pump(): void {
    for (const m of this.members) {
      if (m.job) continue;
      const job = this.queue.shift();
      if (!job) return;
      this.give(m, job);
    }
  }

  private give(m: Member, job: Job): void {
    const id = job.program?.id;
    m.job = job;
    m.thread.busy(true);
    try {
      m.thread.post(job.request(id !== undefined && m.has.has(id)), job.transfer);
      if (id !== undefined) m.has.add(id);
    } catch (cause) { // an input that cannot be cloned, such as a closed ImageBitmap
      m.job = undefined;
      m.thread.busy(false);
      job.reject(new InferPrepError('input', `infer-prep: run: the input cannot be sent to a Worker: ${String(cause)}`, { cause }));
      this.pump();
    }
  }

  /** add starts a Worker, which takes part when it is ready. */
  private add(): Promise<void> {
    return new Promise((resolve, reject) => {
      let thread: Thread;
      try {
        thread = spawn(this.make);
      } catch (cause) {
        reject(unstarted(cause));
        return;
      }
      const m: Member = { thread, job: undefined, has: new Set(), memory: 0 };
      let started = false;
      this.members.add(m);
      thread.listen((r) => {
        started = true;
        this.answered(m, r);
      }, (cause) => {
        if (!this.members.delete(m)) return;
        thread.end();
        const { job } = m;
        job?.reject(started ? new InferPrepError('internal', `infer-prep: a Worker ended: ${String(cause)}`, { cause }) : unstarted(cause));
        if (started && !this.disposed) this.add().catch((e: unknown) => { this.fail(e); });
      });
      this.give(m, {
        request: () => ({ call: 'start', module: this.module, limits: this.limits, decode: this.decode }), transfer: [],
        resolve: () => { resolve(); },
        reject: (e) => {
          if (this.members.delete(m)) thread.end();
          reject(e);
        },
      });
    });
  }

  /** fail rejects the waiting jobs when no Worker is left. */
  private fail(e: unknown): void {
    if (this.members.size > 0) return;
    for (const j of this.queue.splice(0)) j.reject(e);
  }

  private answered(m: Member, r: Reply): void {
    const { job } = m;
    m.job = undefined;
    m.memory = r.memory;
    m.thread.busy(false);
    if ('value' in r) {
      job?.resolve(r.value);
    } else {
      // The Worker may not have opened the graph.
      if (job?.program) m.has.delete(job.program.id);
      job?.reject(new InferPrepError(r.error.code, r.error.message));
    }
    // The graph was closed during its run.
    if (job?.program?.closed && m.has.delete(job.program.id)) m.thread.post({ call: 'close', program: job.program.id }, []);
    this.pump();
  }
}

const closedGraph = (): InferPrepError => new InferPrepError('disposed', 'infer-prep: the graph was disposed of');
const gone = (): InferPrepError => new InferPrepError('disposed', 'infer-prep: the pool was disposed of');
const unstarted = (cause: unknown): InferPrepError =>
  new InferPrepError('load', `infer-prep: createPool: the Worker cannot be started: ${String(cause)}`, { cause });
