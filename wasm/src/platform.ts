import type { File } from './files.js';
import type { Reply, Thread } from './thread.js';

/**
 * The addresses of the package's files. They are written out, so that bundlers
 * find them.
 */
export const urls: Record<File, () => URL> = {
  'infer-prep': () => new URL('./infer-prep.wasm', import.meta.url),
  'infer-prep-simd': () => new URL('./infer-prep-simd.wasm', import.meta.url),
  'infer-prep-full': () => new URL('./infer-prep-full.wasm', import.meta.url),
  'infer-prep-full-simd': () => new URL('./infer-prep-full-simd.wasm', import.meta.url),
};

/** load compiles one of the package's files as it is downloaded. */
export async function load(file: File): Promise<WebAssembly.Module> {
  return compile(fetch(urls[file]()));
}

/**
 * compile compiles a response. It cannot compile while downloading if the
 * server sends another type than application/wasm.
 */
export async function compile(response: Response | PromiseLike<Response>): Promise<WebAssembly.Module> {
  const r = await response;
  if (!r.ok) throw new Error(`${r.url}: HTTP status ${r.status} ${r.statusText}`);
  if (r.headers.get('content-type')?.split(';')[0]?.trim() === 'application/wasm') return WebAssembly.compileStreaming(r);
  return WebAssembly.compile(await r.arrayBuffer());
}

/** download fetches an address. */
export async function download(address: string | URL, signal?: AbortSignal): Promise<Response> {
  return fetch(address, signal ? { signal } : {});
}

/** loadSamples returns the file of scripts/samples.mjs. */
export async function loadSamples(): Promise<Uint8Array> {
  const r = await fetch(new URL('./browser-samples.bin', import.meta.url));
  if (!r.ok) throw new Error(`${r.url}: HTTP status ${r.status} ${r.statusText}`);
  return new Uint8Array(await r.arrayBuffer());
}

/** cores returns the number of threads that the machine runs at once. */
export function cores(): number { return navigator.hardwareConcurrency; }

/** spawn starts a Worker of the package's script, or wraps the one that make returns. */
export function spawn(make?: () => Worker): Thread {
  const w = make ? make() : new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'infer-prep' });
  return {
    post(message, transfer) { w.postMessage(message, transfer); },
    listen(message, error) {
      w.addEventListener('message', (e: MessageEvent<Reply>) => { message(e.data); });
      w.addEventListener('messageerror', () => { error(new Error('a message cannot be deserialized')); });
      w.addEventListener('error', (e) => {
        e.preventDefault();
        error(e.error ?? new Error(e.message || 'its script cannot be loaded'));
      });
    },
    busy() { /* Pages live as long as they are open. */ },
    end() { w.terminate(); },
  };
}
