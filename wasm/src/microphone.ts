/// <reference lib="dom" preserve="true" />
/**
 * Samples of a microphone, or of any other source of Web Audio, for
 * `Graph.stream`.
 *
 * @packageDocumentation
 */

/** The options of {@link microphone}. */
export interface MicrophoneOptions {
  /** Samples of each channel in a block, a multiple of 128 for the least delay. Default 1024; 1 to 1048576. */
  blockSize?: number;
  /** The channels that the source is mixed to, 1 to 32. Default 1. */
  channels?: number;
  /** The address of the worklet's script. Default: the package's `microphone-worklet.js`. */
  worklet?: string | URL;
}

/** Microphone is a connected source. */
export interface Microphone {
  /** Stops, and resolves when the last block was passed on. */
  stop(): Promise<void>;
}

/**
 * microphone passes the samples of a source to a function, block by block and
 * in order. They are interleaved, and belong to the function. The blocks are
 * collected in an AudioWorklet, so that a page that is busy loses none.
 *
 * Samples have the context's rate: `new AudioContext({ sampleRate: 16000 })`
 * has the browser resample a microphone to 16 kHz. Browsers process voices by
 * default; models want `getUserMedia` with `echoCancellation`,
 * `noiseSuppression` and `autoGainControl` of false.
 */
export async function microphone(source: AudioNode, samples: (block: Float32Array<ArrayBuffer>) => void, options: MicrophoneOptions = {}): Promise<Microphone> {
  const { blockSize = 1024, channels = 1, worklet = new URL('./microphone-worklet.js', import.meta.url) } = options;
  if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > 2 ** 20) throw new RangeError(`infer-prep: microphone: blockSize is ${blockSize}: want a whole number of 1 to 1048576`);
  if (!Number.isInteger(channels) || channels < 1 || channels > 32) throw new RangeError(`infer-prep: microphone: channels is ${channels}: want a whole number of 1 to 32`);
  const { context } = source;
  await context.audioWorklet.addModule(worklet);
  const node = new AudioWorkletNode(context, 'infer-prep-microphone', {
    numberOfInputs: 1, numberOfOutputs: 1, outputChannelCount: [1], // an output, which is silent, has browsers run the node
    channelCount: channels, channelCountMode: 'explicit', processorOptions: { samples: blockSize, channels },
  });
  const ended = new Promise<void>((resolve) => {
    node.port.onmessage = ({ data }: MessageEvent<Float32Array<ArrayBuffer> | null>) => {
      if (data) samples(data);
      else resolve();
    };
  });
  source.connect(node);
  node.connect(context.destination);
  return {
    async stop() {
      source.disconnect(node);
      node.port.postMessage(null);
      await ended;
      node.disconnect();
    },
  };
}
