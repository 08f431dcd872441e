// The script of an AudioWorklet, which microphone.ts loads: it collects blocks
// of 128 samples and posts them, interleaved. It needs nothing of the package.

declare class AudioWorkletProcessor { readonly port: MessagePort; constructor(options?: unknown); }
declare function registerProcessor(name: string, processor: unknown): void;

class Microphone extends AudioWorkletProcessor {
  private block: Float32Array<ArrayBuffer>;
  private used = 0;
  private ended = false;

  constructor(private readonly options: { processorOptions: { samples: number; channels: number } }) {
    super(options);
    this.block = this.next();
    this.port.onmessage = () => { // the end
      this.ended = true;
      this.send();
      this.port.postMessage(null);
    };
  }

  process([input]: Float32Array[][]): boolean {
    const { channels } = this.options.processorOptions;
    // An input that nothing is connected to has no channels.
    const first = input?.[0];
    for (let i = 0; first && i < first.length && !this.ended; i++) {
      for (let c = 0; c < channels; c++) this.block[this.used++] = input[c]![i]!;
      if (this.used === this.block.length) this.send();
    }
    return !this.ended;
  }

  private next(): Float32Array<ArrayBuffer> {
    const { samples, channels } = this.options.processorOptions;
    this.used = 0;
    return new Float32Array(samples * channels);
  }

  private send(): void {
    if (this.used === 0) return;
    const data = this.used === this.block.length ? this.block : this.block.slice(0, this.used);
    this.port.postMessage(data, [data.buffer]);
    this.block = this.next();
  }
}

registerProcessor('infer-prep-microphone', Microphone);
