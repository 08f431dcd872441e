/** The characters of the module's output that are kept. Go prints all goroutines at a fatal error. */
const most = 2 ** 16;

const success = 0, badf = 8, nosys = 52;

/**
 * wasi returns the functions of WASI preview 1 that Go's runtime calls: clocks,
 * random numbers, and standard output and error, whose text output returns.
 * There are no files, arguments or environment variables.
 */
export function wasi(memory: () => WebAssembly.Memory): { imports: WebAssembly.Imports; output: () => string } {
  const view = (): DataView => new DataView(memory().buffer);
  let text = '';
  const print = (fd: number, list: number, count: number, written: number): number => {
    if (fd !== 1 && fd !== 2) return badf;
    const v = view();
    let n = 0;
    for (let i = 0; i < count; i++) {
      const at = v.getUint32(list + 8 * i, true), size = v.getUint32(list + 8 * i + 4, true);
      if (text.length < most) text += new TextDecoder().decode(new Uint8Array(v.buffer, at, size));
      n += size;
    }
    v.setUint32(written, n, true);
    return success;
  };
  const none = (count: number, size: number): number => {
    const v = view();
    v.setUint32(count, 0, true);
    v.setUint32(size, 0, true);
    return success;
  };
  const imports = {
    wasi_snapshot_preview1: {
      args_get: () => success,
      args_sizes_get: none,
      environ_get: () => success,
      environ_sizes_get: none,
      clock_time_get: (id: number, _precision: bigint, at: number) => {
        const ms = id === 0 ? Date.now() : performance.now();
        view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
        return success;
      },
      random_get: (at: number, size: number) => {
        for (let i = 0; i < size; i += 65536) { // the limit of getRandomValues
          crypto.getRandomValues(new Uint8Array(memory().buffer, at + i, Math.min(65536, size - i)));
        }
        return success;
      },
      // Go polls to sleep. Its timers are due at once here, which only makes
      // background work start earlier.
      poll_oneoff: (list: number, events: number, count: number, done: number) => {
        const v = view();
        for (let i = 0; i < count; i++) {
          v.setBigUint64(events + 32 * i, v.getBigUint64(list + 48 * i, true), true);
          v.setBigUint64(events + 32 * i + 8, 0n, true);
        }
        v.setUint32(done, count, true);
        return success;
      },
      sched_yield: () => success,
      proc_exit: (code: number) => { throw new Error(`exit status ${code}`); },
      fd_write: print,
      fd_close: () => badf,
      fd_read: () => badf,
      fd_pread: () => badf,
      fd_seek: () => badf,
      fd_filestat_get: () => badf,
      fd_fdstat_get: (fd: number, at: number) => {
        if (fd > 2) return badf;
        new Uint8Array(memory().buffer, at, 24).fill(0);
        view().setUint8(at, 2); // a character device
        return success;
      },
      fd_fdstat_set_flags: () => nosys,
      fd_prestat_get: () => badf,
      fd_prestat_dir_name: () => badf,
    },
  };  return { imports, output: () => text };
}
