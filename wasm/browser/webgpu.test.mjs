import assert from 'node:assert/strict';
import test from 'node:test';
import { call, launch, open, serve } from './harness.mjs';

const module = '/wasm/browser/webgpu.mjs';
const image = (n) => `/testdata/images/${n}`;

test('WebGPU', async (t) => {
  const server = await serve();
  // SwiftShader, a renderer on the CPU: the machines of the tests have no GPU.
  const browser = await launch('chromium', { args: ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'] });
  try {
    const page = await open(browser, `${server.url}/page.html`);
    for (const worker of [false, true]) {
      await t.test(`the bytes of the host${worker ? ', in a Worker' : ''}`, async () => {
        const paths = ['jpeg_large.jpg', 'jpeg_exif_mm_6.jpg', 'jpeg_size_2x2_1x1.jpg', 'png_rgb8.png', 'gif_8bit.gif', 'webp_lossy_64x48.webp'].map(image);
        const r = await call(page, module, 'compare', { paths }, { worker });
        assert.deepEqual(r.different, []);
        for (const p of Object.values(r.proofs)) assert.equal(p.samples, 2);
        if (!worker) console.table(r.proofs);
      });
    }
    await t.test('refusals', async () => {
      assert.deepEqual(await call(page, module, 'refused', { path: image('jpeg_large.jpg') }), {
        hostLast: 'unsupported', onlyHost: 'unsupported', wrong: 'golden', large: 'unsupported', damaged: 'format', afterwards: 'none', disposed: 'disposed',
      });
    });
    await t.test('a bundle is proven with its golden samples', async () => {
      assert.deepEqual(await call(page, module, 'bundled', { bundle: '/testdata/bundle/torchvision.bundle', path: image('jpeg_large.jpg') }),
        { goldens: 4, samples: 4, equal: true });
    });
    await t.test('a model of onnxruntime-web takes the result from the GPU', async () => {
      assert.deepEqual(await call(page, module, 'model', { path: image('jpeg_large.jpg') }), { dims: [1, 3, 50, 56], equal: true });
    });
    assert.deepEqual([server.violations, page.errors], [[], []]);
  } finally {
    await browser.close();
    await server.close();
  }
});
