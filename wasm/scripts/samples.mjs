// The JPEG files that prove the browser's decoder: files of testdata, and copies
// of some with an ICC profile.
import { readFileSync } from 'node:fs';

const testdata = new URL('../../testdata/', import.meta.url);
const read = (name) => readFileSync(new URL(`${name}.jpg`, testdata));

const extremes = {
  420: ['q97_base_3x2', 'q98_base_17x17', 'q95_restart_33x33', 'q1_restart_19x18', 'q97_prog_2x15', 'q98_prog_9x16', 'q97_prog_restart_32x24', 'q1_prog_restart_18x31'],
  422: ['q97_base_1x17', 'q98_base_8x9', 'q97_restart_25x32', 'q1_restart_17x33', 'q97_prog_17x1', 'q95_prog_16x16', 'q97_prog_restart_17x17', 'q1_prog_restart_33x17'],
  444: ['q97_base_16x16', 'q98_base_16x8', 'q95_restart_32x24', 'q1_restart_32x32', 'q98_prog_1x17', 'q95_prog_17x17', 'q97_prog_restart_18x31', 'q1_prog_restart_31x33'],
};
const named = (subsampling, names) => names.map((n) => `extremes/jpeg_${subsampling}_${n}`);
const plain = [
  ...Object.entries(extremes).flatMap(([s, names]) => named(s, names)),
  // Sizes that the filters treat differently.
  ...['2x2_1x1', '2x2_5x4', '2x2_17x33', '2x1_1x1', '2x1_5x4', '2x1_17x33', 'prog_2x2_4x40', 'prog_2x1_4x40'].map((n) => `images/jpeg_size_${n}`),
  ...[2, 3, 4, 5, 6, 7, 8].map((n) => `images/jpeg_exif_mm_${n}`),
  'images/jpeg_optimized', 'images/jpeg_multiscan', 'images/jpeg_comments', 'images/jpeg_space_adobe1_rgb',
  'images/jpeg_restart_1b', 'images/jpeg_restart_7b_prog', // 150x90
  // Kinds that browsers decode to RGB alone.
  'images/jpeg_gray', 'images/jpeg_gray_prog', 'images/jpeg_base_440',
  // Broken data between intact markers, and files that intact refuses.
  ...[0, 3, 6, 8].flatMap((n) => [`damaged/jpeg_base_flip_${n}`, `damaged/jpeg_prog_flip_${n}`]),
  'damaged/jpeg_base_drop_1', 'damaged/jpeg_base_insert_1', 'damaged/jpeg_rst_insert_1', 'damaged/jpeg_prog_drop_2',
  'damaged/jpeg_base_half', 'damaged/jpeg_base_no_eoi', 'damaged/jpeg_rst_lost_1', 'images/jpeg_partial_dc_17x9',
];
const withProfile = Object.entries(extremes).flatMap(([s, names]) => named(s, names.filter((n) => !n.startsWith('q1_'))));

// profile returns an ICC profile of display RGB with gamma 1 and red and blue
// exchanged: whoever applies it changes every colour.
function profile() {
  const tags = [];
  const s15 = (v) => { const b = Buffer.alloc(4); b.writeInt32BE(Math.round(v * 65536)); return b; };
  const xyz = (x, y, z) => Buffer.concat([Buffer.from('XYZ \0\0\0\0'), s15(x), s15(y), s15(z)]);
  const add = (name, data) => tags.push({ name, data: Buffer.concat([data, Buffer.alloc(-data.length & 3)]) });
  const ascii = Buffer.from('swapped\0');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(ascii.length);
  add('desc', Buffer.concat([Buffer.from('desc\0\0\0\0'), length, ascii, Buffer.alloc(4 + 4 + 2 + 1 + 67)]));
  add('wtpt', xyz(0.9642, 1, 0.8249));
  add('rXYZ', xyz(0.1431, 0.0606, 0.7141));
  add('gXYZ', xyz(0.3851, 0.7169, 0.0971));
  add('bXYZ', xyz(0.436, 0.2225, 0.0139));
  for (const c of ['rTRC', 'gTRC', 'bTRC']) add(c, Buffer.from('curv\0\0\0\0\0\0\0\0', 'latin1'));
  let offset = 128 + 4 + 12 * tags.length;
  const table = tags.map(({ name, data }) => {
    const e = Buffer.alloc(12);
    e.write(name, 0, 'latin1');
    e.writeUInt32BE(offset, 4);
    e.writeUInt32BE(data.length, 8);
    offset += data.length;
    return e;
  });
  const head = Buffer.alloc(128);
  head.writeUInt32BE(offset, 0);
  head.writeUInt32BE(0x02100000, 8);
  head.write('mntrRGB XYZ ', 12, 'latin1');
  head.write('acsp', 36, 'latin1');
  Buffer.concat([s15(0.9642), s15(1), s15(0.8249)]).copy(head, 68);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(tags.length);
  return Buffer.concat([head, count, ...table, ...tags.map((t) => t.data)]);
}

function addProfile(file) {
  const data = Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'), profile()]);
  const head = Buffer.from([0xff, 0xe2, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  // After JFIF's segment, which must be the first.
  const at = file[3] === 0xe0 ? 4 + file.readUInt16BE(4) : 2;
  return Buffer.concat([file.subarray(0, at), head, data, file.subarray(at)]);
}

/** samples returns the files one after another, each after its length in four bytes, little-endian. */
export function samples() {
  return Buffer.concat([...plain.map(read), ...withProfile.map((n) => addProfile(read(n)))].flatMap((file) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(file.length);
    return [length, file];
  }));
}
