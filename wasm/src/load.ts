import type { File } from './files.js';

/** load compiles one of the package's files as it is downloaded. */
export async function load(file: File): Promise<WebAssembly.Module> {
  return compile(fetch(urls[file]()));
}

// Bundlers find these files because the URLs are written out.
const urls: Record<File, () => URL> = {
  'infer-prep': () => new URL('../dist/infer-prep.wasm', import.meta.url),
  'infer-prep-simd': () => new URL('../dist/infer-prep-simd.wasm', import.meta.url),
  'infer-prep-full': () => new URL('../dist/infer-prep-full.wasm', import.meta.url),
  'infer-prep-full-simd': () => new URL('../dist/infer-prep-full-simd.wasm', import.meta.url),
};

/** compile compiles a response. A server that sends another type than application/wasm costs the streaming. */
export async function compile(response: Response | PromiseLike<Response>): Promise<WebAssembly.Module> {
  const r = await response;
  if (!r.ok) throw new Error(`${r.url}: HTTP status ${r.status} ${r.statusText}`);
  if (r.headers.get('content-type')?.split(';')[0]?.trim() === 'application/wasm') return WebAssembly.compileStreaming(r);
  return WebAssembly.compile(await r.arrayBuffer());
}
