// Bundles and typed graphs in browsers, whose WebCrypto checks digests and signatures.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import * as make from '../test/bundles.mjs';
import { call, launch, open, serve } from './harness.mjs';

const raw = await readFile(new URL('../../testdata/bundle/torchvision.bundle', import.meta.url));

/** files writes the bundle with a signature, and damaged ones. */
async function files(dir) {
  const { manifest, base } = make.read(raw);
  const signed = make.file(manifest, raw.subarray(base), true);
  const damaged = (at) => { const b = Buffer.from(signed); b[at] ^= 1; return b; };
  const input = signed.indexOf('RIFF'); // of a golden sample
  assert.ok(input > 0);
  const all = { signed, unsigned: raw, input: damaged(input + 20), manifest: damaged(100), signature: damaged(signed.length - 30) };
  for (const [name, b] of Object.entries(all)) await writeFile(join(dir, `${name}.bundle`), b);
}

for (const name of ['chromium', 'firefox']) {
  test(`${name} verifies bundles`, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'infer-prep-'));
    await files(dir);
    const server = await serve({ mounts: { '/bundles/': dir } });
    const browser = await launch(name);
    try {
      const page = await open(browser, `${server.url}/page.html`);
      const run = (what, file, options) => call(page, '/wasm/browser/bundle.mjs', what, { bundle: `${server.url}/bundles/${file}.bundle`, key: make.publicPEM, ...options });
      for (const pool of [false, true]) {
        const { goldens, unchecked, reference } = await run('verify', 'signed', { pool });
        assert.ok(goldens > 0);
        assert.deepEqual(unchecked, []);
        assert.match(reference, /torchvision/);
      }
      for (const [file, code] of Object.entries({ unsigned: 'signature', input: 'digest', manifest: 'digest', signature: 'signature', missing: 'load' })) {
        assert.equal(await run('refused', file), code, file);
      }
      const worker = await call(page, '/wasm/browser/bundle.mjs', 'graphs', { image: '/testdata/images/jpeg_base_420.jpg' }, { worker: true });
      assert.deepEqual(worker, [[[1, 20, 30, 3], [1, 3, 224, 224]], true, 'infer-prep: graph: step 0: unknown op "decoed"; did you mean "decode"?']);
      assert.deepEqual(server.violations, []);
      assert.deepEqual(page.errors.filter((e) => !/404/.test(e)), []); // of the missing bundle
    } finally {
      await browser.close();
      await server.close();
      await rm(dir, { recursive: true });
    }
  });
}

test('an insecure context of chromium has no WebCrypto', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'infer-prep-'));
  await files(dir);
  const server = await serve({ mounts: { '/bundles/': dir } });
  const browser = await launch('chromium', { args: ['--host-resolver-rules=MAP insecure.test 127.0.0.1'] });
  try {
    const url = server.url.replace('127.0.0.1', 'insecure.test');
    const page = await open(browser, `${url}/page.html`);
    assert.equal(await page.evaluate(() => `${window.isSecureContext} ${crypto.subtle}`), 'false undefined');
    // Digests are checked all the same; the signature is not.
    for (const [file, code] of Object.entries({ signed: 'unsupported', signature: 'unsupported', input: 'digest', manifest: 'digest' })) {
      assert.equal(await call(page, '/wasm/browser/bundle.mjs', 'refused', { bundle: `${url}/bundles/${file}.bundle`, key: make.publicPEM }), code, file);
    }
    assert.deepEqual([server.violations, page.errors], [[], []]);
  } finally {
    await browser.close();
    await server.close();
    await rm(dir, { recursive: true });
  }
});
