// The script of a pool's Workers in browsers.
import { serve } from './serve.js';
import type { Reply, Request } from './thread.js';

const scope = globalThis as unknown as { postMessage(message: unknown, transfer: Transferable[]): void };
const post = (reply: Reply, transfer: Transferable[]): void => { scope.postMessage(reply, transfer); };
const handle = serve(post);
addEventListener('message', (e: MessageEvent<Request>) => { void handle(e.data); });
// A request that cannot be read here needs a reply, too.
addEventListener('messageerror', () => {
  post({ error: { code: 'input', message: 'infer-prep: run: a Worker cannot read the input' }, memory: 0 }, []);
});
