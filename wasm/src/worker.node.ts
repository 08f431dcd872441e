// The script of a pool's worker threads in node.
import { parentPort, type Transferable as NodeTransferable } from 'node:worker_threads';
import { serve } from './serve.js';
import type { Reply, Request } from './thread.js';

const port = parentPort!;
const post = (reply: Reply, transfer: Transferable[]): void => { port.postMessage(reply, transfer as NodeTransferable[]); };
const handle = serve(post);
port.on('message', (r: Request) => { void handle(r); });
// A request that cannot be read here needs a reply, too.
port.on('messageerror', () => {
  post({ error: { code: 'input', message: 'infer-prep: run: a Worker cannot read the input' }, memory: 0 }, []);
});
