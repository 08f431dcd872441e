import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker as NodeWorker, type Transferable as NodeTransferable } from 'node:worker_threads';
import type { File } from './files.js';
import { urls } from './platform.js';
import type { Thread } from './thread.js';
export { compile, loadSamples } from './platform.js';

/** load reads and compiles one of the package's files. */
export async function load(file: File): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(urls[file]()));
}

/** download fetches an address, or reads a file: a `file:` URL, or a string that is no URL. */
export async function download(address: string | URL, signal?: AbortSignal): Promise<Response> {
  const options = signal ? { signal } : {};
  // A scheme has two letters at least; one is a drive of Windows.
  const path = address instanceof URL ? address.protocol === 'file:' : !/^[a-z][a-z\d+.-]+:/i.test(address);
  if (!path && !/^file:/i.test(String(address))) return fetch(address, options);
  return new Response(await readFile(path ? address : new URL(address), options));
}

/** cores returns the number of threads that the machine runs at once. */
export function cores(): number { return availableParallelism(); }

/** spawn starts a worker thread of the package's script, or wraps the one that make returns. */
export function spawn(make?: () => unknown): Thread {
  const w = make ? make() as NodeWorker : new NodeWorker(new URL('./worker.node.js', import.meta.url), { name: 'infer-prep', execArgv: [] });
  return {
    post(message, transfer) { w.postMessage(message, transfer as NodeTransferable[]); },
    listen(message, error) {
      w.on('message', message);
      w.on('messageerror', error);
      w.on('error', error);
      w.on('exit', (code) => { error(new Error(`it exited with code ${code}`)); });
    },
    // An idle worker does not keep the process running.
    busy(is) { if (is) w.ref(); else w.unref(); },
    end() { void w.terminate(); },
  };
}
