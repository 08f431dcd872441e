import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { init, InferPrepError } from 'infer-prep';
import { encode, graph, ops } from 'infer-prep/graph';
import { plainSHA256 } from '../lib/sha256.js';
import * as make from './bundles.mjs';
import { verdicts } from './peer.mjs';

const root = new URL('../../', import.meta.url);
const prep = await init();
after(() => prep.dispose());

const rejects = (p, code, text) => assert.rejects(p, (e) => {
  assert.ok(e instanceof InferPrepError, String(e));
  assert.equal(e.code, code, e.message);
  assert.match(e.message, text);
  return true;
});

/** random is a generator of whole numbers below n, always the same ones. */
function generator(seed) {
  return (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
}

/** verdict says of a file what tspeer's verdicts do. */
async function verdict(b) {
  let bundle;
  verdict.reason = '';
  try {
    bundle = await prep.open(new Uint8Array(b));
  } catch (e) {
    if (!(e instanceof InferPrepError) || e.code === 'internal') throw e;
    verdict.reason = e.message;
    return e.code === 'limit' && /compile/.test(e.message) ? 'compile' : 'open';
  }
  const corrupt = [];
  for (const s of bundle.sections) {
    await bundle.section(s.name).catch((e) => {
      assert.equal(e.code, 'digest', String(e));
      corrupt.push(s.name);
    });
  }
  bundle.dispose();
  return corrupt.length === 0 ? 'ok' : ['digest', ...corrupt].join(' ');
}

/** same holds every verdict against Go's, and returns how often there was each. */
async function same(files, names) {
  const want = verdicts(files), counts = {};
  for (const [i, f] of files.entries()) {
    const got = await verdict(f);
    // The graph is compiled before the labels and the metadata are read.
    const other = got === 'compile' && want[i] === 'open';
    assert.ok(got === want[i] || other, `${names(i)}: ${got}, Go says ${want[i]} (${verdict.reason})`);
    const kind = want[i].split(' ')[0];
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

const decode = { ...graph(ops.decode()), reference: 'Pillow 13.0.0' };
const png = readFileSync(new URL('importer/testdata/dot.png', root));

/** golden returns a golden sample of decode, and its section. */
async function golden(name, input) {
  const g = await prep.graph(encode(decode));
  const { data, dims } = await g.run(input, { batch: false });
  g.dispose();
  return [name, [['image', 1, 1, dims, make.sha256(data), [0, 2].map((at) => [at, { f: data[at] }])]]];
}

/** small returns the parts of a bundle with every kind of section. */
async function small() {
  return make.parts([
    ['extra', '', Buffer.of(1, 2, 3)],
    ['golden/a.png', '', png],
    ['graph', '', Buffer.from(encode(decode))],
    ['labels', '', Buffer.from('cat\n\nHund & Katze\n')],
    ['meta', '', Buffer.from('{"author": "a <b>", "\\u00e9": "x"}\n')],
    ['model/net.onnx', 'onnx', Buffer.from('not a model')],
    ['model/net.tflite', 'tflite', Buffer.alloc(0)],
  ], { reference: 'Pillow 13.0.0', versions: [['Pillow', '13.0.0'], ['torch', '2']], goldens: [await golden('a.png', png)] });
}

test('a bundle of Python', async () => {
  const full = await init({ build: 'full' }); // it has images of WebP
  const b = await full.open(readFileSync(new URL('testdata/bundle/torchvision.bundle', root)));
  assert.ok(b.goldens.length > 0);
  assert.match(b.reference, /torchvision/);
  await b.verify();
  const input = await b.section(`golden/${b.goldens[0].name}`);
  const e = b.goldens[0].outputs[0];
  const out = (await b.run(input, { batch: false })).outputs[e.name];
  assert.deepEqual([out.type, out.dims], [e.type, e.dims]);
  full.dispose();
});

test('bundles of the command', async () => {
  const full = await init({ build: 'full' });
  const dir = mkdtempSync(join(tmpdir(), 'infer-prep-'));
  try {
    const at = (name) => join(dir, name);
    execFileSync('go', ['build', '-o', at('infer-prep'), './cmd/infer-prep'], { cwd: root });
    const run = (...args) => execFileSync(at('infer-prep'), args, { cwd: new URL('examples/classifier/', root) });
    run('bundle', 'create', '--torchvision', 'transforms.json', '--model', 'model.onnx', '--labels', 'labels.txt', '--meta', 'license=MIT',
      '--golden', 'images', '--expect', 'tensors', '-o', at('a.bundle'));
    const raw = new Uint8Array(readFileSync(at('a.bundle')));
    const b = await prep.open(raw);
    assert.equal(b.goldens.length, 12);
    assert.deepEqual(b.labels, readFileSync(new URL('examples/classifier/labels.txt', root), 'utf8').trimEnd().split('\n'));
    assert.deepEqual({ ...b.meta }, { license: 'MIT' });
    assert.deepEqual(b.models, [{ name: 'model.onnx', format: 'onnx' }]);
    const m = await b.model();
    assert.equal(m.data.buffer, raw.buffer, 'a view of the file');
    assert.deepEqual(Buffer.from(m.data), readFileSync(new URL('examples/classifier/model.onnx', root)));
    assert.equal((await b.model('model.onnx')).data.byteOffset, m.data.byteOffset);
    await rejects(b.model('x'), 'param', /no such model: the bundle has model.onnx/);
    await rejects(b.section('x'), 'param', /no such section/);
    await b.verify();
    assert.equal(b.signer, undefined);
    await rejects(b.verifySignature(make.publicKey), 'signature', /not signed/);
    for (const source of [new Blob([raw]), raw.buffer, new Response(raw), Promise.resolve(new Response(raw))]) {
      assert.equal((await prep.open(source)).digest, b.digest);
    }
    await rejects(prep.open(new Response('', { status: 404 })), 'load', /HTTP status 404/);
    await rejects(prep.open('data:,x'), 'graph', /not a bundle/);
    await rejects(prep.open(undefined), 'param', /want the bundle/);
    await assert.rejects(prep.open(raw, { signal: AbortSignal.abort('stop') }), (e) => e === 'stop');
    await assert.rejects(b.verify({ signal: AbortSignal.abort('stop') }), (e) => e === 'stop');

    // Kept elements of every type are read as Go wrote them: with another digest none of them differs.
    for (const type of ['uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64']) {
      run('bundle', 'create', '--preset', 'imagenet', '--dtype', type, '--golden', 'images/00.jpg', '-o', at('t.bundle'));
      const t = readFileSync(at('t.bundle')), { manifest, base } = make.read(t);
      const e = (await full.open(t)).goldens[0].outputs[0];
      assert.equal(e.type, type);
      assert.ok(e.values.length > 4);
      manifest[manifest.indexOf(Buffer.from(e.sha256))] ^= 1;
      await rejects((await full.open(make.file(manifest, t.subarray(base)))).verify(), 'golden', /differs in an element that the bundle does not keep/);
    }

    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('key.pem')]);
    const pem = execFileSync('openssl', ['pkey', '-in', at('key.pem'), '-pubout']);
    writeFileSync(at('pub.pem'), pem);
    run('bundle', 'sign', '--key', at('key.pem'), at('a.bundle'));
    const s = await prep.open(readFileSync(at('a.bundle')));
    assert.deepEqual(s.unchecked, []);
    assert.equal(s.digest, b.digest);
    await s.verifySignature(pem.toString());
    await s.verifySignature(s.signer);
    const id = (p) => createHash('sha256').update(p).digest('hex');
    await rejects(s.verifySignature(make.publicKey), 'signature', new RegExp(`by the key ${id(pem)}, want ${id(make.publicPEM)}`));
    for (const bad of ['', 'x', readFileSync(at('key.pem'), 'utf8'), pem + 'x', new Uint8Array(31)]) {
      await rejects(s.verifySignature(bad), 'param', /public key/);
    }
    s.dispose();
    await rejects(s.run(png), 'disposed', /disposed/);
    const counts = await same([raw, readFileSync(at('a.bundle')), readFileSync(at('a.bundle')).subarray(0, -128)], String);
    assert.deepEqual(counts, { ok: 2, open: 1 });
  } finally {
    full.dispose();
    rmSync(dir, { recursive: true });
  }
});

test('properties', async () => {
  const { manifest, rest } = await small();
  const b = await prep.open(make.file(make.pack(manifest), rest, true));
  assert.deepEqual(b.labels, ['cat', '', 'Hund & Katze']);
  assert.deepEqual({ ...b.meta }, { author: 'a <b>', é: 'x' });
  assert.deepEqual({ ...b.versions }, { Pillow: '13.0.0', torch: '2' });
  assert.deepEqual([b.least, b.reference, b.models.length, b.sections.length], ['exact', 'Pillow 13.0.0', 2, 7]);
  assert.equal(b.digest, make.sha256(make.pack(manifest)).toString('hex'));
  await b.verify();
  await b.verifySignature(make.publicPEM);
  await b.verifySignature(make.publicKey);
  await rejects(b.model(), 'param', /no name given: the bundle has net.onnx, net.tflite/);
});

test('every bit, and every length', async (t) => {
  const { manifest, rest } = await small();
  for (const signed of [false, true]) {
    const raw = make.file(make.pack(manifest), rest, signed), files = [];
    for (let i = 0; i < raw.length; i++) {
      for (let bit = 0; bit < 8; bit++) {
        const b = Buffer.from(raw);
        b[i] ^= 1 << bit;
        files.push(b);
      }
    }
    const flips = await same(files, (i) => `bit ${i % 8} of byte ${i >> 3}`);
    assert.equal(flips.ok, undefined);
    const cuts = [...Array(raw.length).keys()].map((n) => raw.subarray(0, n));
    for (const more of [Buffer.alloc(1), Buffer.from('x'), Buffer.alloc(64), Buffer.alloc(128), raw]) cuts.push(Buffer.concat([raw, more]));
    assert.deepEqual(await same(cuts, (i) => `length ${i}`), { open: cuts.length });
    t.diagnostic(`signed ${signed}: ${raw.length} bytes; flipped bits ${JSON.stringify(flips)}; ${cuts.length} lengths`);
  }
});

test('manifests that are not valid', async () => {
  const of = async (change, options = {}) => {
    const p = await small();
    const rest = change(p.manifest, p.rest) ?? p.rest;
    return make.file(make.pack(p.manifest), rest, options.signed, options);
  };
  const sections = (f) => (m) => { f(m[3]); };
  const output = (f) => (m) => { f(m[4][0][1][0]); };
  const cases = [
    [await of(() => {}), /^$/],
    [await of(sections((s) => { s[1][2] = 0; })), /overlaps/],
    [await of(sections((s) => { s[0][2] = -64; })), /overlaps/],
    [await of(sections((s) => { s[1][2] = 192; })), /leaves a gap/],
    [await of(sections((s) => { s[1][2] = 3; })), /is not aligned/],
    [await of(sections((s) => { s[6][3] = 1; })), /extend|want \d/],
    [await of(sections((s) => { s[6][3] = 2n ** 50n; })), /extend/],
    [await of(sections((s) => { s[6][3] = -1; })), /impossible size/],
    [await of(sections((s) => { s[6][3] = 2n ** 63n - 1n; })), /impossible size/],
    [await of(sections((s) => { s[6][3] = 2n ** 60n; })), /at most/],
    [await of(sections((s) => { s.pop(); })), /^$/], // it is empty
    [await of(sections((s) => { s.splice(-2); })), /want \d/],
    [await of(sections((s) => { [s[0][0], s[1][0]] = [s[1][0], s[0][0]]; })), /each once and in order/],
    [await of(sections((s) => { s[1][0] = 'extra'; })), /each once and in order/],
    [await of(sections((s) => { s[2][0] = 'graphs'; })), /no section "graph"/],
    [await of(sections((s) => { s[1][0] = 'golden/b.png'; })), /belongs to no golden sample/],
    [await of(sections((s) => { s[0][1] = 'onnx'; })), /models have one/],
    [await of(sections((s) => { s[5][1] = ''; })), /models have one/],
    [await of(sections((s) => { s[5][1] = 'ONNX'; })), /lower-case/],
    [await of(sections((s) => { s[5][1] = 'x'.repeat(33); })), /lower-case/],
    [await of(sections((s) => { s[0][4] = Buffer.alloc(31); })), /31 bytes, want 32/],
    ...await Promise.all(['', 'manifest', 'a\\b', 'a\u0085', '/a', 'a/', 'a//b', './a', 'a/..', 'a'.repeat(256)].map(async (n) =>
      [await of(sections((s) => { s[0][0] = n; })), /section name|text of 256/])),
    ...await Promise.all(['e\u0301', 'a\ufeff', 'a'.repeat(255), '..a', 'a b'].map(async (n) => [await of(sections((s) => { s[0][0] = n; })), /^$/])),
    [await of(sections((s) => { s[0][0] = { raw: Buffer.of(0x61, 0xff) }; })), /section name/],
    [await of((m) => { m[0] = 'exakt'; }), /class "exakt"/],
    [await of((m) => { m[1] = 'other'; }), /reference "Pillow 13.0.0", the manifest has "other"/],
    [await of((m) => { m[1] = { raw: Buffer.of(0xff) }; }), /not UTF-8/],
    [await of((m) => { m[2].reverse(); }), /in order/],
    [await of((m) => { m[2][0][0] = ''; }), /want a name/],
    [await of((m) => { m[2] = [[{ raw: Buffer.of(0x61, 0xc3) }, { raw: Buffer.of(0xa9) }]]; }), /^$/], // as Go: it checks the two together
    [await of((m) => { m[2] = [[{ raw: Buffer.of(0x61, 0xc3) }, 'x']]; }), /UTF-8/],
    [await of((m) => { m[2] = Array.from({ length: 257 }, (_, i) => [String(i).padStart(4, '0'), '']); }), /array of 257/],
    [await of((m) => { m[4] = []; }), /belongs to no golden/],
    [await of((m) => { m[4].push(m[4][0]); }), /has no section/],
    [await of((m) => { m[4][0][1] = []; }), /has no outputs/],
    [await of((m) => { m[4][0][1].push(m[4][0][1][0]); }), /twice or out of order/],
    [await of((m) => { m.push(0); }), /tuple of 6|array of 6/],
    [await of(output((o) => { o[0] = 'pixels'; })), /has an output "pixels", the graph has image/],
    [await of(output((o) => { o[1] = 0; })), /dtype 0/],
    [await of(output((o) => { o[1] = 13; })), /dtype 13/],
    [await of(output((o) => { o[1] = 256; })), /want 0 to 255/],
    [await of(output((o) => { o[1] = 12; })), /dtype 12/],
    [await of(output((o) => { o[2] = 3; })), /layout 3/],
    [await of(output((o) => { o[3] = [2, 3]; })), /shape \(2, 3\)/],
    [await of(output((o) => { o[3] = [-1, 3, 3]; })), /shape \(-1/],
    [await of(output((o) => { o[3] = [2n ** 40n, 2n ** 30n, 3]; })), /shape/],
    [await of(output((o) => { o[3] = [2n ** 30n, 2n ** 29n, 1]; })), /^$/],
    [await of(output((o) => { o[3] = [2n ** 30n, 2n ** 29n, 2]; })), /shape/],
    [await of(output((o) => { o[3] = [2n ** 30n, 2n ** 29n, 1]; o[5] = [[2n ** 59n - 2n, { f: 1 }], [2n ** 59n - 1n, { f: 1 }]]; })), /^$/],
    [await of(output((o) => { o[3] = [2n ** 30n, 2n ** 29n, 1]; o[5] = [[2n ** 59n, { f: 1 }]]; })), /element/],
    [await of(output((o) => { o[3] = [0, 2n ** 62n, 1]; o[5] = []; })), /^$/],
    [await of(output((o) => { o[3] = [0, 2n ** 62n, 2]; o[5] = []; })), /shape/],
    [await of(output((o) => { o[5].reverse(); })), /each once and in order/],
    [await of(output((o) => { o[5][0][0] = -1; })), /element -1/],
    [await of(output((o) => { o[5] = Array.from({ length: 65 }, (_, i) => [i, { f: 0 }]); })), /array of 65/],
    [await of(() => {}, { version: 2 }), /version 2, this package reads 1/],
    [await of(() => {}, { start: 65 }), /starts at 65/],
    [await of(() => {}, { size: 10 }), /SHA-256/],
    [await of(() => {}, { size: 2 ** 40 }), /a manifest of 1099511627776 bytes/],
    [await of(() => {}, { signature: 128 }), /want \d/],
    [await of(() => {}, { signature: 64 }), /a signature of 64 bytes/],
    [await of(() => {}, { signed: true }), /^$/],
    [await of(() => {}, { signed: true, signature: 0 }), /want \d/],
  ];
  // Graphs, labels and metadata with valid digests.
  const section = async (at, data) => {
    const b = await of((m, rest) => {
      const [, , start, size] = m[3][at];
      const tail = rest.subarray(start + Math.ceil(size / 64) * 64);
      const padded = Buffer.concat([data, Buffer.alloc((64 - (data.length % 64)) % 64)]);
      const moved = padded.length - (rest.length - start - tail.length);
      m[3][at][3] = data.length;
      m[3][at][4] = make.sha256(data);
      for (const s of m[3].slice(at + 1)) s[2] += moved;
      return Buffer.concat([rest.subarray(0, start), padded, tail]);
    });
    return b;
  };
  const g = Buffer.from(encode(decode));
  for (const [data, want] of [
    [Buffer.concat([g, Buffer.of(0)]), /after its end/],
    [g.subarray(1), /datagraph/],
    [Buffer.from(encode({ ...decode, reference: 'Pillow 12' })), /reference "Pillow 12"/],
    [Buffer.from(encode({ ...graph(ops.decode(), ops.random_horizontal_flip()), reference: 'Pillow 13.0.0' })), /random ops: random_horizontal_flip|unknown op/],
    [Buffer.from(encode({ ...graph(ops.decode(), ops.crop({ top: 0, left: 0, height: 0, width: 1 })), reference: 'Pillow 13.0.0' })), /height/],
    [Buffer.from(encode({ ...graph(ops.to_tensor()), reference: 'Pillow 13.0.0' })), /to_tensor/],
  ]) cases.push([await section(2, data), want]);
  for (const [text, want] of [
    ['', /line feed/], ['\n', /^$/], ['a', /line feed/], ['a\r\n', /line feed/], ['\ufeffa\n', /^$/], ['\n'.repeat(2 ** 20), /^$/], ['\n'.repeat(2 ** 20 + 1), /1048577 labels/],
    [Buffer.of(0xed, 0xa0, 0x80, 10), /line feed/], [Buffer.of(0xff, 10), /line feed/],
  ]) cases.push([await section(3, Buffer.from(text)), want]);
  const json = [
    '{}', ' {\t} \n', '{"a":"b"}', '{"a":"b","c":"d"}', '{"__proto__":"x"}', '{"a":"\\ud800"}', '{"\\ud800":"a","\\udc00":"b"}', '{"\\ud83d\\ude00":"a","😀":"b"}',
    '{"a":"\\u00e9\\n"}', '{"":""}', '', '{', '}', '[]', '"a"', 'null', '{"a"}', '{"a":}', '{"a":1}', '{"a":null}', '{"a":{}}', '{"a":["b"]}', '{"a":"b",}', '{,"a":"b"}', '{"a":"b","a":"c"}',
    '{"a":"b" "c":"d"}', '{"a":"b"}{}', '{"a":"b"} x', '{"a":"b"},', '{a:"b"}', "{'a':'b'}", '{"a":"\\x"}', '{"a":"\n"}', '{"a":"\\u12g4"}', '\ufeff{}', '{"a":"b"]', '{]', '{"a":"b"', '{"a":"b}', '\u00a0{}', '{"a":"\u007f\u2028"}', '{}\0',
  ];
  for (const text of json) cases.push([await section(4, Buffer.from(text)), null]);
  cases.push([await section(4, Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')])), /not UTF-8/]);

  const counts = await same(cases.map(([b]) => b), (i) => `case ${i}: ${cases[i][1] ?? json[i - cases.findIndex(([, w]) => w === null)]}`);
  assert.ok(counts.ok > 20 && counts.open > 70, JSON.stringify(counts));
  for (const [i, [b, want]] of cases.entries()) {
    if (want === null) continue;
    const text = await prep.open(b).then((o) => { o.dispose(); return ''; }, (e) => e.message);
    assert.match(text, want, `case ${i}`);
  }
});

test('mutated bundles', async (t) => {
  const next = generator(17), count = Number(process.env.INFER_PREP_FUZZ ?? 4000);
  const { manifest, rest } = await small();
  const bases = [make.file(make.pack(manifest), rest, false), make.file(make.pack(manifest), rest, true),
    readFileSync(new URL('testdata/bundle/torchvision.bundle', root))];
  const mutate = (b) => {
    for (let n = 1 + next(3); n > 0 && b.length > 0; n--) {
      const at = next(b.length);
      switch (next(4)) {
        case 0: b[at] = next(256); break;
        case 1: b[at] ^= 1 << next(8); break;
        case 2: b = Buffer.concat([b.subarray(0, at), b.subarray(at + 1 + next(3))]); break;
        default: b = Buffer.concat([b.subarray(0, at), Buffer.of(next(256)), b.subarray(at)]);
      }
    }
    return b;
  };
  const files = [];
  for (let i = 0; i < count; i++) {
    const raw = bases[next(bases.length)];
    const { manifest: m, base, signature } = make.read(raw);
    const tail = raw.subarray(base, raw.length - signature);
    switch (next(3)) {
      case 0: files.push(mutate(Buffer.from(raw))); break;
      case 1: files.push(make.file(mutate(m), tail, signature > 0)); break; // with valid digests
      default: { // a section of the same size, with its digest in the manifest
        const b = Buffer.from(tail), name = ['graph', 'labels', 'meta'][next(3)];
        const s = (await prep.open(raw)).sections.find((v) => v.name === name);
        if (!s) break;
        const part = b.subarray(s.offset - base, s.offset - base + s.size);
        for (let n = 1 + next(2); n > 0; n--) part[next(part.length)] = next(4) ? next(256) : 0x20 + next(96);
        const at = m.indexOf(Buffer.from(s.sha256));
        make.sha256(part).copy(m, at);
        files.push(make.file(m, b, signature > 0));
      }
    }
  }
  t.diagnostic(JSON.stringify(await same(files, (i) => `mutation ${i}: ${files[i].toString('base64').slice(0, 2000)}`)));
});

test('golden samples that differ', async () => {
  const of = async (change) => {
    const p = await small();
    change(p.manifest[4][0][1][0], p);
    return prep.open(make.file(make.pack(p.manifest), p.rest));
  };
  const verify = async (change, code, text, mismatch) => {
    const b = await of(change);
    await rejects(b.verify(), code, text);
    const e = await b.verify().catch((v) => v);
    if (mismatch) assert.partialDeepStrictEqual ? assert.partialDeepStrictEqual(e.cause[0], mismatch) : assert.deepEqual({ ...e.cause[0], ...mismatch }, e.cause[0]);
    b.dispose();
  };
  const first = (await golden('a.png', png))[1][0][5];
  await verify((o) => { o[4] = Buffer.alloc(32); }, 'golden', /golden sample "a.png": output "image" differs in an element that the bundle does not keep/, { golden: 'a.png', output: 'image' });
  await verify((o) => { o[4] = Buffer.alloc(32); o[5][1][1] = { f: 300 }; }, 'golden', new RegExp(`at \\(0, 0, 2\\): got ${first[1][1].f}, want 300`), { at: [0, 0, 2], wantValue: 300 });
  await verify((o) => { o[3] = [1, 2, 3]; o[5] = []; }, 'golden', /is uint8 HWC \(\d+, \d+, 3\), want uint8 HWC \(1, 2, 3\)/);
  await verify((o) => { o[1] = 9; }, 'golden', /want float32 HWC/);
  // Kept elements do not count while the digest is equal.
  const kept = await of((o) => { o[5][0][1] = { f: 300 }; });
  await kept.verify();
  // A corrupt input, and a model; all of them are named.
  const { manifest, rest } = await small();
  rest[manifest[3][1][2] + 5] ^= 1;
  rest[manifest[3][5][2] + 1] ^= 1;
  const b = await prep.open(make.file(make.pack(manifest), rest));
  await rejects(b.verify(), 'digest', /"golden\/a.png".*\n.*"model\/net.onnx"/);
  await rejects(b.model('net.onnx'), 'digest', /section "model\/net.onnx": corrupt/);
  // An input that is not an image.
  const bad = make.parts([['golden/x', '', Buffer.from('no image')], ['graph', '', Buffer.from(encode(decode))]],
    { reference: decode.reference, goldens: [['x', (await golden('x', png))[1]]] });
  await rejects((await prep.open(make.file(make.pack(bad.manifest), bad.rest))).verify(), 'golden', /golden sample "x": .*not a|golden sample "x"/);
});

test('without WebCrypto', async () => {
  for (let n = 0; n < 300; n++) {
    const b = Buffer.from(Array.from({ length: n }, (_, i) => i * 7));
    assert.deepEqual(Buffer.from(plainSHA256(b)), make.sha256(b));
  }
  const { manifest, rest } = await small();
  const raw = make.file(make.pack(manifest), rest, true);
  const whole = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
  const only = (value) => Object.defineProperty(globalThis, 'crypto', { value, configurable: true });
  const { subtle } = crypto;
  const cases = {
    'an insecure context': { getRandomValues: (b) => b },
    'no Ed25519': { subtle: { digest: subtle.digest.bind(subtle), importKey: () => Promise.reject(Object.assign(new Error(), { name: 'NotSupportedError' })) } },
  };
  for (const [name, value] of Object.entries(cases)) {
    only(value);
    try {
      const b = await prep.open(raw);
      assert.deepEqual(b.unchecked, ['signature'], name);
      await b.verify();
      await rejects(b.verifySignature(b.signer), 'unsupported', /no Ed25519 here/);
      await rejects(b.verifySignature(new Uint8Array(32)), 'signature', /by the key/);
      const broken = Buffer.from(raw);
      broken[raw.length - 200] ^= 1;
      assert.notEqual(await verdict(broken), 'ok', name);
    } finally {
      Object.defineProperty(globalThis, 'crypto', whole);
    }
  }
});
