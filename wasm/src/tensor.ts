import type { RawTensor } from './instance.js';

/** TensorData is the elements of a {@link Tensor}, in row-major order. */
export type TensorData =
  | Uint8Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** The types of tensors. The names are those of ONNX Runtime, except for `bfloat16` and `bytes`, which it does not have. */
export type TensorType =
  | 'uint8' | 'int8' | 'uint16' | 'int16' | 'int32' | 'int64'
  | 'float16' | 'bfloat16' | 'float32' | 'float64' | 'bool' | 'bytes';

/**
 * Tensor is an array of numbers. `new ort.Tensor(t.type, t.data, t.dims)` of
 * onnxruntime-web takes its fields as they are.
 */
export interface Tensor<T extends TensorType = TensorType> {
  /** The elements: Uint16Array with the bits of float16 and bfloat16, Uint8Array of 0 and 1 for bool. */
  data: TensorData;
  /** The sizes, outermost first. */
  dims: number[];
  type: T;
  /** The order of the axes of an image, without a batch's axis; `none` for other tensors. */
  layout: 'none' | 'HWC' | 'CHW';
}

/** The arrays that hold the elements of each type. */
export const arrays = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  float16: Uint16Array, bfloat16: Uint16Array, float32: Float32Array, float64: Float64Array, bool: Uint8Array, bytes: Uint8Array,
} as const;

/** The types of tensors. */
export const types = Object.keys(arrays) as TensorType[];

/** copied copies a tensor out of the module's memory. */
export function copied(t: RawTensor): Tensor {
  const type = t.dtype as TensorType;
  return { data: new arrays[type](t.bytes.slice().buffer), dims: t.dims, type, layout: t.layout };
}
