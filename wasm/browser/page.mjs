// Runs in pages of the tests.

/** call calls a function of a module, in this thread or in a new Worker. */
export async function call(module, name, args, worker) {
  if (!worker) return (await import(module))[name](args);
  const w = new Worker('/wasm/browser/worker.mjs', { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      w.onerror = (e) => { reject(new Error(e.message || 'the Worker cannot be loaded')); };
      w.onmessage = ({ data }) => { if ('error' in data) reject(new Error(data.error)); else resolve(data.value); };
      w.postMessage({ module, name, args });
    });
  } finally {
    w.terminate();
  }
}

/** evaluates reports whether the page's CSP lets it run text as code. */
export function evaluates() {
  try {
    return new Function('return true')();
  } catch {
    return false;
  }
}
