import { loadSamples } from '#platform';
import { hasProfile, intact } from './browser-jpeg.js';
import type { Decoding } from './decoding.js';
import { InferPrepError } from './errors.js';
import type { Header, Instance, RawInput } from './instance.js';

/** The columns and rows of pixels per chroma sample of the formats of planes. */
const factors: Record<string, [number, number]> = { I420: [2, 2], I422: [2, 1], I444: [1, 1] };

/** The bytes of planes up to which memory stays small: a photo of 16 megapixels in 4:2:0. */
const maxPlanes = 24 << 20;

/** A kind is used if the browser decoded at least this many samples of it. */
const minDecoded = 3;

const text = (s: string): number[] => [0xa0 | s.length, ...new TextEncoder().encode(s)];
/** A graph in msgpack form that decodes, applies the orientation and does nothing else. See docs/format/bundle.md. */
const proofGraph = Uint8Array.from([
  0x96, 1, 0xa0, 0x91, 0x94, ...text('image'), 12, 0, 0x90,
  0x91, 0x95, ...text('decode'), 1, 0x91, ...text('image'), 0x91, ...text('image'), 0x97, 0, 0, 0, 0, 1, 0, 0, 0x91, ...text('image'), 0x90,
]);

/** Planes are a file's decoded planes in the form of Go's package codec/pixels. */
interface Planes { bytes: Uint8Array<ArrayBuffer>; format: string }

/** BrowserDecoder replaces JPEG files by their pixels. */
export class BrowserDecoder {
  private proof: Promise<Decoding> | undefined;
  /** The format of each kind that was proven. */
  private readonly proven = new Map<string, string>();

  /** The function ready returns an instance that is alive. */
  constructor(private readonly ready: () => Promise<Instance>, private readonly limits: { pixels: number; bytes: number }) {}

  /** decoding returns the proof. The first call makes it. */
  decoding(): Promise<Decoding> {
    if (!this.proof) {
      const p = this.proof = this.prove();
      p.catch(() => { this.proof = undefined; }); // the instance ended; the next call tries again
    }
    return this.proof;
  }

  /**
   * replace returns what a run takes for a file: the planes of a JPEG that the
   * browser may decode, else the file itself.
   */
  async replace(input: RawInput): Promise<RawInput> {
    if ('dtype' in input || input.bytes[0] !== 0xff || input.bytes[1] !== 0xd8) return input;
    await this.decoding();
    const found = this.proven.size > 0 ? header(await this.ready(), input.bytes) : undefined;
    const format = found && this.proven.get(found.kind);
    if (format === undefined) return input;
    const planes = await this.decode(input.bytes, found!.header);
    return planes?.format === format ? { bytes: planes.bytes } : input;
  }

  /** decode decodes a file by the browser. It returns undefined if the file is damaged, too large for this way, or refused. */
  private async decode(file: Uint8Array, { width, height, mode, orientation }: Header): Promise<Planes | undefined> {
    const { pixels, bytes } = this.limits;
    // The own decoder needs less than 16 bytes a pixel.
    if (mode !== 'RGB' || width * height > pixels || width * height * 16 > bytes || !intact(file)) return undefined;
    let decoder: ImageDecoder | undefined, frame: VideoFrame | undefined;
    try {
      decoder = new ImageDecoder({ data: file as Uint8Array<ArrayBuffer>, type: 'image/jpeg', colorSpaceConversion: 'none', preferAnimation: false });
      frame = (await decoder.decode({ completeFramesOnly: true })).image;
      return await planesOf(frame, width, height, orientation);
    } catch {
      return undefined;
    } finally {
      frame?.close();
      decoder?.close();
    }
  }

  private async prove(): Promise<Decoding> {
    const result: Decoding = { decode: 'browser', kinds: {} };
    if (typeof ImageDecoder !== 'function' || !await ImageDecoder.isTypeSupported('image/jpeg')) {
      return { ...result, reason: 'this platform has no ImageDecoder for JPEG' };
    }
    let samples: Uint8Array[];
    try {
      samples = split(await loadSamples());
    } catch (e) {
      return { ...result, reason: `the samples cannot be loaded: ${String(e)}` };
    }
    const instance = await this.ready();
    const graph = instance.open(proofGraph, { pixels: 0, bytes: 0 });
    for (const file of samples) {
      const found = header(instance, file);
      if (!found) continue;
      const kind = result.kinds[found.kind] ??=
        { way: 'own', samples: 0, decoded: 0, equal: true, format: '', browserMilliseconds: 0, ownMilliseconds: 0 };
      kind.samples++;
      const start = performance.now();
      const planes = await this.decode(file, found.header);
      if (!planes) continue;
      const browser = pixels(instance, graph, planes.bytes);
      const middle = performance.now();
      const own = pixels(instance, graph, file);
      kind.decoded++;
      kind.browserMilliseconds += middle - start;
      kind.ownMilliseconds += performance.now() - middle;
      kind.equal &&= equal(own, browser);
      kind.format ||= planes.format;
      if (kind.format !== planes.format) kind.reason = `its pixels have different forms, ${kind.format} and ${planes.format}`;
    }
    instance.close(graph);
    for (const [name, kind] of Object.entries(result.kinds)) {
      if (!kind.equal) kind.reason = 'the browser decodes it to other bytes';
      else if (kind.decoded < minDecoded) kind.reason = `the browser decoded ${kind.decoded} of its samples to planes, want ${minDecoded}`;
      if (kind.reason !== undefined) continue;
      kind.way = 'browser';
      this.proven.set(name, kind.format);
    }
    return result;
  }
}

/** split returns the files of scripts/samples.mjs. */
function split(all: Uint8Array): Uint8Array[] {
  const v = new DataView(all.buffer, all.byteOffset, all.byteLength);
  const files: Uint8Array[] = [];
  for (let p = 0; p < all.length;) {
    const size = v.getUint32(p, true);
    files.push(all.subarray(p + 4, p + 4 + size));
    p += 4 + size;
  }
  return files;
}

/** attempt returns undefined if f throws an error of the input, which the run will report. */
function attempt<T>(f: () => T): T | undefined {
  try {
    return f();
  } catch (e) {
    if (e instanceof InferPrepError && e.code !== 'internal') return undefined;
    throw e;
  }
}

/** header returns a file's header and kind, or undefined if it is refused. */
function header(instance: Instance, file: Uint8Array): { header: Header; kind: string } | undefined {
  const h = attempt(() => instance.probe(file));
  return h && { header: h, kind: h.kind + (hasProfile(file) ? ', ICC profile' : '') };
}

interface Pixels { dims: number[]; bytes: Uint8Array }

/** pixels returns the pixels of a file, or undefined if it is refused. */
function pixels(instance: Instance, graph: number, bytes: Uint8Array): Pixels | undefined {
  return attempt(() => {
    const t = instance.run(graph, [{ bytes }])[0]!;
    return { dims: t.dims, bytes: t.bytes.slice() };
  });
}

function equal(a: Pixels | undefined, b: Pixels | undefined): boolean {
  return a?.dims.join() === b?.dims.join() && a?.bytes.every((v, i) => v === b?.bytes[i]) === true;
}

/** planesOf copies a frame's planes. It returns undefined if the frame has none, or not those of the file. */
async function planesOf(frame: VideoFrame, width: number, height: number, orientation: number): Promise<Planes | undefined> {
  const format = String(frame.format), f = factors[format], rect = frame.visibleRect;
  if (!f || rect?.width !== width || rect?.height !== height || frame.colorSpace.fullRange !== true) return undefined;
  const w = Math.ceil(width / f[0]), h = Math.ceil(height / f[1]), y = width * height, size = y + 2 * w * h;
  if (size > maxPlanes) return undefined;
  const bytes = new Uint8Array(24 + size);
  bytes.set([0, 0x49, 0x50, 0x70, 0x69, 0x78, 0, 1]); // "\0IPpix\0" and the version
  const v = new DataView(bytes.buffer);
  v.setUint32(8, width, true);
  v.setUint32(12, height, true);
  bytes.set([4, 0, orientation, f[0] << 4 | f[1]], 16); // 4 is mode RGB
  await frame.copyTo(bytes.subarray(24), {
    layout: [{ offset: 0, stride: width }, { offset: y, stride: w }, { offset: y + w * h, stride: w }],
  });
  return { bytes, format };
}
