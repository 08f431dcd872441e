// The script of a pool's worker threads in node.
import { parentPort, type Transferable as NodeTransferable } from 'node:worker_threads';
import { serve } from './serve.js';
import type { Request } from './thread.js';

const port = parentPort!;
const handle = serve((reply, transfer) => { port.postMessage(reply, transfer as NodeTransferable[]); });
port.on('message', (r: Request) => { void handle(r); });
