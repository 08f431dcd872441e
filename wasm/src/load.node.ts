import { readFile } from 'node:fs/promises';
import type { File } from './files.js';
export { compile } from './load.js';

/** load reads and compiles one of the package's files. */
export async function load(file: File): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(new URL(`../dist/${file}.wasm`, import.meta.url)));
}
