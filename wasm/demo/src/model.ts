// Inference with onnxruntime-web.
import type { Bundle, Result } from 'infer-prep';
import * as ort from 'onnxruntime-web/wasm';

ort.env.wasm.wasmPaths = new URL('ort/', document.baseURI).href;
ort.env.wasm.numThreads = 1; // more need a page that is cross-origin isolated

/** Score is a label with its share, 0 to 1, and the model's own value. */
export interface Score {
  label: string;
  share: number;
  value: number;
}

/** Classifier is a model whose only output is one value per class. */
export class Classifier {
  private constructor(private readonly session: ort.InferenceSession, private readonly labels: readonly string[]) {}

  /** open opens the bundle's first ONNX model, or returns undefined if it has none. */
  static async open(bundle: Bundle): Promise<Classifier | undefined> {
    const model = bundle.models.find((m) => m.format === 'onnx');
    if (!model) return undefined;
    const { data } = await bundle.model(model.name);
    return new Classifier(await ort.InferenceSession.create(data), bundle.labels);
  }

  /** run returns the scores, the best first. */
  async run(tensors: Result): Promise<Score[]> {
    const names = Object.keys(tensors.outputs);
    const feeds = Object.fromEntries(this.session.inputNames.map((name, i) => {
      const t = tensors.outputs[name] ?? tensors.outputs[names[i] ?? ''];
      if (!t) throw new Error(`the model wants an input "${name}", the graph has ${names.join(', ')}`);
      return [name, new ort.Tensor(t.type as 'float32', t.data as Float32Array, t.dims)];
    }));
    const out = (await this.session.run(feeds))[this.session.outputNames[0]!]!;
    const values = Array.from(out.data as Float32Array, Number);
    const shares = share(values);
    return values.map((value, i) => ({ value, share: shares[i]!, label: this.labels[i] ?? `class ${i}` })).sort((a, b) => b.value - a.value);
  }

  /** close frees the model. */
  async close(): Promise<void> { await this.session.release(); }
}

/** share returns probabilities as they are, and the softmax of other values. */
function share(values: number[]): number[] {
  const sum = values.reduce((a, b) => a + b, 0);
  if (values.every((v) => v >= 0) && Math.abs(sum - 1) < 1e-3) return values;
  const most = Math.max(...values), e = values.map((v) => Math.exp(v - most)), total = e.reduce((a, b) => a + b, 0);
  return e.map((v) => v / total);
}
