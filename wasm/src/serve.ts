import type { Output, Trace } from './engine.js';
import { InferPrepError } from './errors.js';
import { Machine, type Local } from './machine.js';
import type { Reply, Request, Value } from './thread.js';

/** serve returns the function that a Worker calls for each request of its pool. */
export function serve(post: (reply: Reply, transfer: Transferable[]) => void): (request: Request) => Promise<void> {
  let machine: Machine | undefined;
  const programs = new Map<number, Local>();

  const open = async (m: Machine, id: number, graph?: Uint8Array): Promise<Local> => {
    let p = programs.get(id);
    if (!p) {
      if (!graph) throw new InferPrepError('internal', `infer-prep: worker: graph ${id} is not open`);
      p = await m.open(graph);
      programs.set(id, p);
    }
    return p;
  };

  const answer = async (r: Exclude<Request, { call: 'close' }>, transfer: Transferable[]): Promise<Value> => {
    if (r.call === 'start') {
      machine = await Machine.create(r.module, r.limits, r.decode);
      return undefined;
    }
    const m = machine!;
    if (r.call === 'decoding') return m.decoding();
    const p = await open(m, r.program, r.graph);
    if (r.call === 'open') return p.columns;
    if (r.call === 'sizes') return m.sizes(p, r.height, r.width);
    try {
      const out: (Output | Trace)[] = r.call === 'run' ? await m.run(p, r.inputs) : await m.trace(p, r.inputs);
      transfer.push(...out.map((t) => t.data.buffer));
      return out as Value;
    } finally {
      // The pool transferred copies of frames.
      for (const i of r.inputs) if (typeof VideoFrame === 'function' && i instanceof VideoFrame) i.close();
    }
  };

  return async (r) => {
    if (r.call === 'close') {
      const p = programs.get(r.program);
      programs.delete(r.program);
      if (p) machine?.close(p);
      return;
    }
    const transfer: Transferable[] = [];
    try {
      const value = await answer(r, transfer);
      post({ value, memory: machine?.memoryBytes ?? 0 }, transfer);
    } catch (e) {
      const { code, message } = e instanceof InferPrepError ? e : new InferPrepError('internal', `infer-prep: worker: ${String(e)}`);
      post({ error: { code, message }, memory: machine?.memoryBytes ?? 0 }, []);
    }
  };
}
