import { InferPrepError } from './errors.js';

/**
 * Samples are those of a sound without a file, such as a microphone's. They are
 * interleaved: one of each channel, then the next ones.
 */
export interface Samples {
  /** Numbers of -1 to 1, or of 16 bits, which count as divided by 32768. */
  data: Float32Array | Int16Array;
  /** Samples of each channel a second, in Hz. */
  samplingRate: number;
  /** Default 1. */
  channels?: number;
}

/** isSamples reports whether v has the fields of Samples. */
export function isSamples(v: unknown): v is Samples {
  return typeof v === 'object' && v !== null && 'data' in v && 'samplingRate' in v;
}

const invalid = (text: string): InferPrepError => new InferPrepError('input', `infer-prep: samples: ${text}`);

/** checkFormat returns the number of channels, and throws if that or the rate is out of range. */
export function checkFormat({ samplingRate, channels = 1 }: { samplingRate: number; channels?: number }): number {
  if (!Number.isInteger(samplingRate) || samplingRate < 1 || samplingRate > 2 ** 24) throw invalid(`a samplingRate of ${samplingRate}: want a whole number of 1 to 16777216`);
  if (!Number.isInteger(channels) || channels < 1 || channels > 1024) throw invalid(`channels is ${channels}: want a whole number of 1 to 1024`);
  return channels;
}

/** bytesOf returns the bytes of samples, and whether they are floating-point numbers. */
export function bytesOf(data: unknown): { bytes: Uint8Array; float: boolean } {
  if (!(data instanceof Float32Array) && !(data instanceof Int16Array)) throw invalid('want a Float32Array or an Int16Array');
  return { bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), float: data instanceof Float32Array };
}

/** wav returns samples as a WAV file, which a graph decodes to the same numbers. */
export function wav(s: Samples, limit: number): Uint8Array<ArrayBuffer> {
  const channels = checkFormat(s), { bytes, float } = bytesOf(s.data);
  const block = channels * s.data.BYTES_PER_ELEMENT;
  if (bytes.length % block !== 0) throw invalid(`${s.data.length} numbers: want a multiple of the channels, ${channels}`);
  if (bytes.length > limit) throw new InferPrepError('limit', `infer-prep: run: the input has ${bytes.length} bytes: limits.input is ${limit}`);
  const file = new Uint8Array(44 + bytes.length), v = new DataView(file.buffer);
  const text = (at: number, t: string): void => { for (let i = 0; i < t.length; i++) v.setUint8(at + i, t.charCodeAt(i)); };
  text(0, 'RIFF');
  v.setUint32(4, 36 + bytes.length, true);
  text(8, 'WAVEfmt ');
  v.setUint32(16, 16, true);
  v.setUint16(20, float ? 3 : 1, true);
  v.setUint16(22, channels, true);
  v.setUint32(24, s.samplingRate, true);
  v.setUint32(28, s.samplingRate * block, true);
  v.setUint16(32, block, true);
  v.setUint16(34, 8 * s.data.BYTES_PER_ELEMENT, true);
  text(36, 'data');
  v.setUint32(40, bytes.length, true);
  file.set(bytes, 44);
  return file;
}

/** interleaved returns the samples of an AudioBuffer. */
export function interleaved(b: AudioBuffer): Samples {
  const { numberOfChannels: channels, length, sampleRate: samplingRate } = b;
  if (channels === 1) return { data: b.getChannelData(0), samplingRate };
  const data = new Float32Array(channels * length);
  for (let c = 0; c < channels; c++) {
    const from = b.getChannelData(c);
    for (let i = 0; i < length; i++) data[i * channels + c] = from[i]!;
  }
  return { data, samplingRate, channels };
}
