import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { WASI } from 'node:wasi';

const root = new URL('../..', import.meta.url).pathname;
// That of .ci/run, as in build.sh.
const toolexec = /-toolexec=\S+/.exec(process.env.GOFLAGS ?? '')?.[0] ?? '';
const go = (args, env) => execFileSync(process.env.GO ?? 'go', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });

/** run returns the output of a WASI program. */
const run = async (file, dir) => {
  const path = join(dir, 'out');
  const stdout = openSync(path, 'w');
  const wasi = new WASI({ version: 'preview1', stdout, returnOnExit: true });
  const { instance } = await WebAssembly.instantiate(readFileSync(file), wasi.getImportObject());
  const status = wasi.start(instance);
  closeSync(stdout);
  assert.equal(status, 0);
  return readFileSync(path, 'utf8');
};

test('wasmstrip changes no result', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'strip-'));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const flags of [[], ['-gcflags=all=-l']]) {
    const whole = join(dir, 'whole.wasm');
    const stripped = join(dir, 'stripped.wasm');
    go(['build', '-trimpath', '-ldflags=-s -w', ...flags, '-o', whole, './wasm/test/strip'], { GOOS: 'wasip1', GOARCH: 'wasm', GOTOOLCHAIN: 'go1.27.2', GOEXPERIMENT: 'nojsonv2,nosizespecializedmalloc', GOFLAGS: toolexec }); // as in build.sh
    copyFileSync(whole, stripped);
    go(['run', './tools/wasmstrip', stripped], { GOFLAGS: `-trimpath ${toolexec}` });
    assert.ok(statSync(stripped).size < 0.95 * statSync(whole).size);
    const want = await run(whole, dir);
    assert.match(want, /index out of range \[3\]/);
    assert.match(want, /not recovered by a helper/);
    assert.equal(await run(stripped, dir), want);
  }
});
