import { InferPrepError } from './errors.js';
import type { Instance, RawTensor } from './instance.js';
import { bytesOf } from './samples.js';
import { copied, type Tensor, type TensorType } from './tensor.js';

/** The options of {@link Graph.stream}. */
export interface StreamOptions {
  /** Samples of each channel a second, in Hz. It is the graph's rate: another one is an error. */
  samplingRate: number;
  /** The channels of the samples. Default 1. */
  channels?: number;
}

/** Parts are the next parts of outputs, by name. */
export type Parts<T extends TensorType = Exclude<TensorType, 'bfloat16' | 'bytes'>> = Record<string, Tensor<T>>;

/**
 * SoundStream computes the outputs of a graph while the samples of a sound
 * arrive, such as those of a microphone. The parts of an output, joined along
 * its axis, have the bytes of a run on the whole sound, whatever the sizes of
 * the pieces. {@link Graph.stream} makes one.
 *
 * Calls run on the calling thread in their order. After an error the stream
 * cannot be used again.
 */
export class SoundStream {
  /**
   * The axis along which the parts of an output follow each other, by name. An
   * output without parts, since it depends on the whole sound, has -1: `end`
   * returns it.
   */
  readonly axes: Readonly<Record<string, number>>;
  private readonly handle: number;
  private failed: InferPrepError | undefined;

  /** @internal */
  constructor(private readonly instance: Instance, graph: number, rate: number, channels: number) {
    const opened = instance.streamOpen(graph, rate, channels);
    this.handle = opened.handle;
    this.axes = Object.fromEntries(opened.outputs.map((t) => [t.name, t.step - 1]));
  }

  /**
   * push takes the next samples, interleaved, and returns the parts of outputs
   * that follow from them. Outputs without a new part are absent. The caller
   * keeps the samples, and owns the result.
   */
  push(samples: Float32Array | Int16Array): Parts {
    return this.call(() => {
      const { bytes, float } = bytesOf(samples);
      return parts(this.instance.streamPush(this.handle, float, bytes).filter((t) => t.step > 0 && !t.dims.includes(0)));
    });
  }

  /** end ends the sound. It returns the last part of every output, which may be empty, and the outputs without parts. */
  end(): Parts {
    const last = this.call(() => parts(this.instance.streamEnd(this.handle)));
    this.failed = new InferPrepError('disposed', 'infer-prep: stream: the sound was ended');
    return last;
  }

  /** dispose closes the stream before its end. */
  dispose(): void {
    this.failed ??= new InferPrepError('disposed', 'infer-prep: stream: it was disposed of');
    this.instance.streamClose(this.handle);
  }

  private call(f: () => Parts): Parts {
    if (this.failed) throw this.failed;
    try {
      return f();
    } catch (e) {
      if (e instanceof InferPrepError) this.failed = e;
      this.instance.streamClose(this.handle);
      throw e;
    }
  }
}


const parts = (l: RawTensor[]): Parts => Object.fromEntries(l.map((t) => [t.name, copied(t)])) as Parts;
