export { InferPrepError, type ErrorCode } from './errors.js';
export type { ImageInput, Input } from './inputs.js';
export type { Limits } from './machine.js';
export { init, Graph, InferPrep, type Description, type InitOptions, type Result, type RunOptions } from './prep.js';
export type { Tensor, TensorData, TensorType } from './tensor.js';
