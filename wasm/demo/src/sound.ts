// The demo page of sounds; see sound.html for its parts.
import { init, InferPrepError, type Graph, type SoundStream, type Tensor } from 'infer-prep';
import { microphone } from 'infer-prep/microphone';

// The caller knows sound.html.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
const get = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const rate = 16_000, mels = 80, seconds = 30;
/** The samples of a microphone that are computed at once. */
const block = 1024;

/** The log-mel spectrogram of Whisper, frame by frame: without its last step, which needs the loudest value of all. */
const live = {
  infer_prep_graph: 1,
  inputs: [{ name: 'samples', dtype: 'float32', layout: 'none', shape: [-1] }],
  steps: [{
    op: 'spectrogram', version: 1, in: ['samples'], out: ['mel'],
    params: {
      frame_length: 400, hop_length: 160, fft_length: 400, pad: 200, scale: 1, remove_dc: false, preemphasis: 0, window: 'hann', periodic: true,
      rule: 'complex64', power: 2, root: 0, sampling_rate: rate, mels, mel_scale: 'slaney', mel_low: 0, mel_high: 8000, mel_triangles: false,
      mel_norm: true, floor: 1e-10, add_floor: false, log: 'log10', mean: [], std: [], frames_first: true,
    },
  }],
  outputs: ['mel'],
};

const opened = (async () => {
  const prep = await init({ build: 'full' });
  return {
    live: await prep.graph(new TextEncoder().encode(JSON.stringify(live))),
    whisper: await prep.fromHF({ feature_extractor_type: 'WhisperFeatureExtractor' }, { backend: 'samples' }),
    samples: await prep.graph(new TextEncoder().encode(JSON.stringify({
      infer_prep_graph: 1, inputs: [{ name: 'sound', dtype: 'bytes', layout: 'none', shape: [] }],
      steps: [
        { op: 'decode_sound', version: 1, in: ['sound'], out: ['sound'], params: { sampling_rate: rate } },
        { op: 'mix_mono', version: 1, in: ['sound'], out: ['sound'], params: {} },
      ],
      outputs: ['sound'],
    }))),
  };
})();

function status(message: string): void { get('status').textContent = message; }

/** acting calls f, and shows its error. */
async function acting(f: () => Promise<void>): Promise<void> {
  get('error').hidden = true;
  try {
    await f();
  } catch (e) {
    const box = get('error');
    box.textContent = e instanceof InferPrepError ? `${e.message} (${e.code})` : e instanceof Error ? e.message : String(e);
    box.hidden = false;
    status('The last action failed.');
  }
}

/** Listening is a sound that is coming. */
class Listening {
  private readonly data = new Float32Array(seconds * rate);
  private readonly frames = new Float32Array((seconds * 100 + 1) * mels);
  private used = 0;
  private columns = 0;
  private time = 0;
  private drawn = 0;

  private constructor(readonly name: string, private readonly mel: SoundStream, private readonly whisper: SoundStream) {}

  static async start(name: string): Promise<Listening> {
    const g = await opened, options = { samplingRate: rate };
    get('pictures').hidden = false;
    get('features').hidden = true;
    return new Listening(name, await g.live.stream(options), await g.whisper.stream(options));
  }

  get full(): boolean { return this.used === this.data.length; }

  /** push takes samples, and draws them with the next picture of the screen. */
  push(samples: Float32Array): void {
    const part = samples.subarray(0, this.data.length - this.used);
    if (part.length === 0) return;
    this.data.set(part, this.used);
    this.used += part.length;
    const start = performance.now();
    this.keep(this.mel.push(part).mel);
    this.whisper.push(part);
    this.time += performance.now() - start;
    this.drawn ||= requestAnimationFrame(() => { this.draw(); });
  }

  /** end shows the features of the whole sound. */
  async end(): Promise<void> {
    const start = performance.now();
    this.keep(this.mel.end().mel);
    const streamed = this.whisper.end().input_features!;
    this.time += performance.now() - start;
    const wholeStart = performance.now();
    const whole = await run((await opened).whisper, this.data.subarray(0, this.used));
    const wholeTime = performance.now() - wholeStart;
    const [a, b] = await Promise.all([digest(streamed), digest(whole)]);
    this.draw();
    const length = this.used / rate;
    get('features').hidden = false;
    get('features-text').textContent = `float32, ${streamed.dims.join(' × ')}. ${a === b ? 'The stream of blocks has the bytes of the whole sound.' : 'The stream differs from the whole sound: this is a bug.'}`;
    get('digest').textContent = a;
    get('times').textContent = `Both streams took ${this.time.toFixed(0)} ms, ${(this.time / 1000 / length).toFixed(4)} of the sound's time; Whisper's features of the whole at once took ${wholeTime.toFixed(0)} ms.`;
    status(`${this.name}: ${length.toFixed(2)} s, ${this.columns} frames of ${mels} mels`);
  }

  private keep(t: Tensor | undefined): void {
    if (!t) return;
    const part = (t.data as Float32Array).subarray(0, this.frames.length - this.columns * mels);
    this.frames.set(part, this.columns * mels);
    this.columns += part.length / mels;
  }

  private draw(): void {
    this.drawn = 0;
    const wave = get<HTMLCanvasElement>('wave'), mel = get<HTMLCanvasElement>('mel'), { width } = wave;
    const c = wave.getContext('2d')!, style = getComputedStyle(document.body), middle = wave.height / 2;
    c.clearRect(0, 0, width, wave.height);
    c.fillStyle = style.getPropertyValue('--accent');
    const columns = Math.max(this.columns, width / 4), samples = columns * 160;
    for (let x = 0; x < width; x++) {
      let least = 0, largest = 0;
      for (let i = Math.floor((x * samples) / width); i < Math.min(((x + 1) * samples) / width, this.used); i++) {
        least = Math.min(least, this.data[i]!);
        largest = Math.max(largest, this.data[i]!);
      }
      if ((x * samples) / width < this.used) c.fillRect(x, middle * (1 - largest), 1, Math.max(1, middle * (largest - least)));
    }
    const picture = new ImageData(width, mel.height);
    let peak = -10;
    for (let i = 0; i < this.columns * mels; i++) peak = Math.max(peak, this.frames[i]!);
    for (let x = 0; x < width; x++) {
      const column = Math.floor((x * columns) / width);
      if (column >= this.columns) break;
      for (let y = 0; y < mel.height; y++) {
        const band = mels - 1 - Math.floor((y * mels) / mel.height);
        const v = Math.max(0, 1 - (peak - this.frames[column * mels + band]!) / 8); // Whisper's range: 8 decades
        picture.data.set([255 * Math.min(1, 1.6 * v), 255 * v * v, 255 * Math.max(0, 0.35 + 0.4 * v - v * v), 255], 4 * (y * width + x));
      }
    }
    mel.getContext('2d')!.putImageData(picture, 0, 0);
    get('caption').textContent = `${(this.used / rate).toFixed(1)} s, ${this.columns} frames; the loudest band has ${peak.toFixed(2)}, the darkest ${(peak - 8).toFixed(2)}`;
  }
}

const run = async (g: Graph, data: Float32Array<ArrayBuffer>): Promise<Tensor> => g.run({ type: 'float32', data, dims: [data.length] }, { batch: false });

async function digest(t: Tensor): Promise<string> {
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', t.data));
  return Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** decoded returns the samples of a file: exact, or the browser's. */
async function decoded(f: File): Promise<{ data: Float32Array; note: string }> {
  try {
    return { data: (await (await opened).samples.run(f, { batch: false })).data as Float32Array, note: '' };
  } catch (e) {
    if (!(e instanceof InferPrepError) || e.code !== 'unsupported') throw e;
    const b = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await f.arrayBuffer()).catch(() => { throw e; });
    const data = new Float32Array(b.length);
    for (let c = 0; c < b.numberOfChannels; c++) b.getChannelData(c).forEach((v, i) => { data[i]! += v / b.numberOfChannels; });
    return { data, note: ', decoded by the browser' };
  }
}

async function file(f: File): Promise<void> {
  await stop();
  status(`Reading ${f.name} …`);
  const { data, note } = await decoded(f);
  const l = await Listening.start(f.name + note);
  for (let at = 0; at < data.length && !l.full; at += block) l.push(data.subarray(at, at + block));
  await l.end();
}

/** ending stops the microphone. */
let ending: (() => Promise<void>) | undefined;

async function stop(): Promise<void> { await ending?.(); }

async function listen(): Promise<void> {
  await stop();
  // The property is missing on pages that are not secure.
  const media = navigator.mediaDevices as MediaDevices | undefined;
  if (!media) throw new Error('The microphone needs a page of https or of this machine.');
  const context = new AudioContext({ sampleRate: rate });
  const stream = await media.getUserMedia({ audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } })
    .catch((e: unknown) => { throw new Error(`The microphone cannot be used: ${e instanceof Error ? e.message : String(e)}`, { cause: e }); });
  const l = await Listening.start('microphone');
  const m = await microphone(context.createMediaStreamSource(stream), (samples) => {
    l.push(samples);
    if (l.full) void acting(stop);
  }, { blockSize: block, worklet: 'microphone-worklet.js' });
  ending = async () => {
    ending = undefined;
    await m.stop();
    for (const t of stream.getTracks()) t.stop();
    await context.close();
    get('stop').hidden = true;
    get('microphone').hidden = false;
    await l.end();
  };
  get('microphone').hidden = true;
  get('stop').hidden = false;
  get('stop').focus();
  status('Listening …');
}

const input = get<HTMLInputElement>('sound-file');
get('pick-sound').addEventListener('click', () => { input.click(); });
input.addEventListener('change', () => {
  const f = input.files?.[0];
  if (f) void acting(() => file(f));
  input.value = '';
});
get('microphone').addEventListener('click', () => void acting(listen));
get('stop').addEventListener('click', () => void acting(stop));
void acting(async () => {
  await opened;
  status('Choose a sound, or use the microphone.');
});
