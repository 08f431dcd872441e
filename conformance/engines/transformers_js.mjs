// transformers.js in node, whose sharp reads and scales images: image processors by the configuration's own class.
// CONFORMANCE_JS names the folder whose node_modules has @huggingface/transformers.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const home = path.join(process.env.CONFORMANCE_JS, 'node_modules', '@huggingface', 'transformers');
const version = JSON.parse(fs.readFileSync(path.join(home, 'package.json'))).version;
const lib = await import(pathToFileURL(path.join(home, 'dist', 'transformers.node.mjs')));

class Skip extends Error {}

const TYPES = { float32: '<f4', float64: '<f8', int64: '<i8', int32: '<i4', uint8: '|u1', bool: '|b1' };

function npy(tensor) {
  const dims = tensor.dims;
  if (!TYPES[tensor.type]) throw new Error(`dtype ${tensor.type}`);
  let head = `{'descr': '${TYPES[tensor.type]}', 'fortran_order': False, 'shape': (${dims.join(', ')}${dims.length === 1 ? ',' : ''}), }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + '\n';
  const size = Buffer.alloc(2);
  size.writeUInt16LE(head.length);
  const d = tensor.data;
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), size, Buffer.from(head, 'latin1'), Buffer.from(d.buffer, d.byteOffset, d.byteLength)]);
}

// A zip file of stored members, which is what an npz file is.
function npz(members) {
  const table = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
  const crc = (b) => { let c = ~0; for (const x of b) c = table[(c ^ x) & 255] ^ (c >>> 8); return ~c >>> 0; };
  const parts = [], central = [];
  let at = 0;
  for (const [name, data] of members) {
    const h = Buffer.alloc(30), n = Buffer.from(name + '.npy');
    h.writeUInt32LE(0x04034b50); h.writeUInt16LE(20, 4); h.writeUInt16LE(0x21, 12); h.writeUInt32LE(crc(data), 14);
    h.writeUInt32LE(data.length, 18); h.writeUInt32LE(data.length, 22); h.writeUInt16LE(n.length, 26);
    const c = Buffer.alloc(46);
    c.writeUInt32LE(0x02014b50); c.writeUInt16LE(20, 4); h.copy(c, 6, 4, 30); c.writeUInt32LE(at, 42);
    parts.push(h, n, data); central.push(c, n);
    at += h.length + n.length + data.length;
  }
  const dir = Buffer.concat(central), end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50); end.writeUInt16LE(members.length, 8); end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(dir.length, 12); end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, dir, end]);
}

async function decode(task, files) {
  const data = fs.readFileSync(files[0]);
  const oriented = data.includes('Exif') || data.includes('eXIf') || data.includes('EXIF');
  if (task.library === 'pillow' && oriented) throw new Skip('RawImage always applies the orientation');
  let im;
  try {
    im = await lib.RawImage.fromBlob(new Blob([data]));
  } catch (e) {
    throw new Skip(e.message);
  }
  im = im.rgb();
  return { image: new lib.Tensor('uint8', im.data, [im.height, im.width, 3]) };
}

const made = new Map();
// The classes whose outputs' first axis is that of the tiles of all images.
const TILED = new Set(['Aria', 'Cohere2Vision', 'Gemma3', 'GotOcr2', 'Llama4', 'Ovis2'].map((n) => n + 'ImageProcessor'));

async function processor(task, files, outputs) {
  return run(task, await lib.RawImage.fromBlob(new Blob([fs.readFileSync(files[0])])), outputs);
}

async function sizes(task) {
  const shapes = [];
  for (const [h, w] of task.sizes) shapes.push((await run(task, new lib.RawImage(new Uint8ClampedArray(3 * h * w), w, h, 3), ['pixel_values'])).pixel_values.dims);
  return { shapes: new lib.Tensor('int64', BigInt64Array.from(shapes.flat().map(BigInt)), [shapes.length, shapes[0].length]) };
}

async function run(task, picture, outputs) {
  const config = { ...task.saved }; // its classes have few defaults of their own
  if (config.image_processor_type === 'Swin2SRImageProcessor') config.pad_size = config.size_divisor; // the key's old name
  const name = config.image_processor_type ?? config.feature_extractor_type;
  const known = name && [name, name.replace(/Fast$/, ''), name.replace(/FeatureExtractor$/, 'ImageProcessor')].find((n) => lib[n]);
  if (!known) throw new Skip(`no class ${name}`);
  const key = JSON.stringify(config);
  if (!made.has(key)) { made.clear(); made.set(key, new lib[known](config)); }
  const got = await made.get(key)([picture.rgb()]);
  const out = {};
  for (const n of outputs) {
    let t = got[n];
    if (!t) continue;
    if (Array.isArray(t)) t = new lib.Tensor('int64', t.flat(9).map(BigInt), [1, t.flat(9).length]);
    // The contract's outputs have no axis of images, but where the patches of all images form one sequence.
    const joined = n === 'pixel_values' && (got.image_grid_thw || got.image_grid_hw || TILED.has(known));
    out[n] = !joined && t.dims.length > 1 && t.dims[0] === 1 ? new lib.Tensor(t.type, t.data, t.dims.slice(1)) : t;
  }
  return out;
}

const tasks = { decode, processor, sizes };

async function answer(r) {
  try {
    if (!tasks[r.task.do]) throw new Skip(`no ${r.task.do}`);
    const got = await tasks[r.task.do](r.task, r.files, r.outputs);
    const names = Object.keys(got);
    if (r.outputs.length === 1) fs.writeFileSync(r.out, npy(got[r.outputs[0]]));
    else fs.writeFileSync(r.out, npz(names.map((n) => [n, npy(got[n])])));
    return { file: r.out };
  } catch (e) {
    return e instanceof Skip ? { skip: e.message } : { error: `${e.name}: ${String(e.message).split('\n')[0]}` };
  }
}

const args = process.argv.slice(2);
const say = (o) => process.stdout.write(JSON.stringify(o) + '\n');
console.log = console.info = console.warn = (...a) => console.error(...a);
if (args[0] === '--describe') {
  say({ name: 'transformers.js', version, settings: 'RawImage, which in node is scaled by sharp (affine, without antialiasing); the image processor of the configuration' });
} else if (args[0] === '--lines') {
  for await (const line of readline.createInterface({ input: process.stdin })) say(await answer(JSON.parse(line)));
} else {
  const at = args.indexOf('-o');
  say(await answer({ ...JSON.parse(fs.readFileSync(args[0])), files: args.slice(1, at), out: args[at + 1] }));
}
