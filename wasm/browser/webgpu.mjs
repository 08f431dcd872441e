import { init, InferPrepError } from '/wasm/dist/index.js';

const decode = { op: 'decode', params: { color: 'rgb', alpha: 'drop', gray16: 'clip', refuse: [], orientation: 'apply', damage: 'pillow', scale: 'full' } };
const resize = (params) => ({
  op: 'resize',
  params: { fit: 'shortest', height: 0, width: 0, edge: 64, max_edge: 0, multiple: 0, keep_aspect: false, size_rule: 'truncate', interpolation: 'bilinear', backend: 'pillow', no_antialias: false, ...params },
});
const crop = { op: 'center_crop', params: { height: 50, width: 56, crop_rounding: 'half_even', fill: [0] } };
const tail = [{ op: 'to_tensor', params: {} }, { op: 'normalize', params: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } }];
const contrast = { op: 'adjust_contrast', params: { factor: 1.5, backend: 'pillow' } };
const flip = { op: 'horizontal_flip', params: {} };

const graphs = {
  imagenet: [decode, resize({}), crop, ...tail],
  clip: [decode, resize({ interpolation: 'bicubic' }), crop, ...tail],
  lanczos: [decode, resize({ fit: 'exact', edge: 0, height: 333, width: 21, interpolation: 'lanczos' }), flip],
  nearest: [decode, resize({ interpolation: 'nearest' }), ...tail],
  torch: [decode, resize({ backend: 'torch_uint8' }), ...tail],
  values: [decode, ...tail],
  'host first': [decode, contrast, resize({}), ...tail],
};
// The results of resize come back to a step of the host.
const hostLast = [decode, resize({}), contrast];

const encoded = (steps) => new TextEncoder().encode(JSON.stringify({
  infer_prep_graph: 1,
  inputs: [{ name: 'image', dtype: 'bytes', layout: 'none', shape: [] }],
  steps: steps.map((s) => ({ version: 1, in: ['image'], out: ['image'], ...s })),
  outputs: ['image'],
}));

const equal = (a, b) => String(a.dims) === String(b.dims) && a.type === b.type && a.layout === b.layout && a.data.length === b.data.length && a.data.every((v, i) => Object.is(v, b.data[i]));

const device = async () => (await navigator.gpu.requestAdapter()).requestDevice();

async function code(f) {
  try {
    await f();
    return 'none';
  } catch (e) {
    if (!(e instanceof InferPrepError)) throw e;
    return e.code;
  }
}

/** compare runs all graphs on files on a GPU and on the host. */
export async function compare({ paths }) {
  const prep = await init({ build: 'full' }), gpu = await device();
  const different = [], proofs = {};
  for (const [name, steps] of Object.entries(graphs)) {
    const graph = await prep.graph(encoded(steps));
    const on = await graph.onDevice(gpu);
    proofs[name] = on.proof;
    for (const path of paths) {
      const file = await (await fetch(path)).blob();
      const [r, want] = await Promise.all([on.run(file), graph.run(file)]);
      const got = await r.download();
      r.dispose();
      if (!equal(got, want)) different.push(`${path} ${name}`);
    }
    // Runs that are started at once, and results that are kept.
    const files = await Promise.all(paths.map(async (p) => (await fetch(p)).blob()));
    const kept = await Promise.all(files.map((f) => on.run(f, { batch: false })));
    for (const [i, r] of kept.entries()) {
      if (!equal(await r.download(), await graph.run(files[i], { batch: false }))) different.push(`${paths[i]} ${name}, kept`);
      r.dispose();
    }
    on.dispose();
  }
  prep.dispose();
  gpu.destroy();
  return { different, proofs };
}

/** refused returns the codes of errors. */
export async function refused({ path }) {
  const prep = await init({ build: 'full' }), gpu = await device();
  const graph = await prep.graph(encoded(graphs.imagenet));
  const file = await (await fetch(path)).blob();
  const like = (changes) => new Proxy(gpu, {
    get(target, name) {
      if (name in changes) return changes[name];
      const v = Reflect.get(target, name, target);
      return typeof v === 'function' ? v.bind(target) : v;
    },
  });
  // An adapter whose rounding is off by one bit.
  const wrong = like({ createShaderModule: ({ code }) => gpu.createShaderModule({ code: code.replaceAll('2097152', '2090000') }) });
  const little = await (await fetch('/testdata/images/jpeg_base_420.jpg')).blob();
  const limited = await (await prep.graph(encoded(graphs.values))).onDevice(like({ limits: { maxStorageBufferBindingSize: 330_000, maxBufferSize: gpu.limits.maxBufferSize, maxComputeWorkgroupsPerDimension: 65535 } }), { samples: [little] });
  const result = {
    hostLast: await code(async () => (await prep.graph(encoded(hostLast))).onDevice(gpu)),
    onlyHost: await code(async () => (await prep.graph(encoded([decode]))).onDevice(gpu)),
    wrong: await code(() => graph.onDevice(wrong)),
    large: await code(() => limited.run(file)),
    damaged: await code(async () => (await graph.onDevice(gpu)).run(file.slice(0, 100))),
    afterwards: await code(async () => { (await limited.run(little)).dispose(); }),
  };
  prep.dispose();
  result.disposed = await code(() => limited.run(file));
  gpu.destroy();
  return result;
}

/** bundled proves a bundle's graph with its golden samples, and returns the proof and whether a result is the host's. */
export async function bundled({ bundle: address, path }) {
  const prep = await init({ build: 'full' }), gpu = await device();
  const bundle = await prep.open(address), on = await bundle.onDevice(gpu);
  const file = await (await fetch(path)).blob();
  const r = await on.run(file);
  const result = { goldens: bundle.goldens.length, samples: on.proof.samples, equal: equal(await r.download(), await bundle.run(file)) };
  prep.dispose();
  gpu.destroy();
  return result;
}

/** model passes a result on the GPU to a model of onnxruntime-web, which returns its absolute values. */
export async function model({ path }) {
  const ort = await import('/wasm/node_modules/onnxruntime-web/dist/ort.webgpu.min.mjs');
  ort.env.wasm.wasmPaths = '/wasm/node_modules/onnxruntime-web/dist/';
  ort.env.wasm.numThreads = 1;
  // A model in ONNX form, by hand: y = Abs(x).
  const text = (s) => [...new TextEncoder().encode(s)];
  const field = (n, bytes) => [n << 3 | 2, bytes.length, ...bytes];
  const value = (name) => [...field(1, text(name)), ...field(2, field(1, [8, 1]))];
  const node = [...field(1, text('x')), ...field(2, text('y')), ...field(4, text('Abs'))];
  const graph = [...field(1, node), ...field(2, text('g')), ...field(11, value('x')), ...field(12, value('y'))];
  const onnx = Uint8Array.from([8, 8, ...field(7, graph), ...field(8, [16, 13])]);
  const session = await ort.InferenceSession.create(onnx, { executionProviders: ['webgpu'] });
  const gpu = await ort.env.webgpu.device; // onnxruntime-web made it for the session
  const prep = await init({ build: 'full' });
  const g = await prep.graph(encoded(graphs.imagenet));
  const file = await (await fetch(path)).blob();
  const r = await (await g.onDevice(gpu)).run(file);
  const { y } = await session.run({ x: ort.Tensor.fromGpuBuffer(r.buffer, { dataType: r.type, dims: r.dims, dispose: r.dispose }) });
  const got = await y.getData(), want = await g.run(file);
  await session.release();
  prep.dispose();
  return { dims: y.dims, equal: got.length === want.data.length && got.every((v, i) => v === Math.abs(want.data[i])) };
}
