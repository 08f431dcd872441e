// The script of a pool's Workers in browsers.
import { serve } from './serve.js';
import type { Request } from './thread.js';

const scope = globalThis as unknown as { postMessage(message: unknown, transfer: Transferable[]): void };
const handle = serve((reply, transfer) => { scope.postMessage(reply, transfer); });
addEventListener('message', (e: MessageEvent<Request>) => { void handle(e.data); });
