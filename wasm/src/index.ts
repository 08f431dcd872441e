/// <reference lib="dom" preserve="true" />
/**
 * infer-prep for browsers and node: images become tensors with the bytes of
 * Python's preprocessing.
 *
 * @packageDocumentation
 */
export type { Decoding, DecodingKind } from './browser-decode.js';
export type { Bundle, Mismatch, Model } from './bundle.js';
export { InferPrepError, type ErrorCode } from './errors.js';
export type { ImageInput, Input, TensorInput } from './inputs.js';
export type { Description, Limits, Trace } from './machine.js';
export type { Exactness, Expected, Golden, Section } from './manifest.js';
export { createPool, type PoolOptions } from './pool.js';
export { init, type Graph, type HFOptions, type InferPrep, type InitOptions, type Result, type RunOptions } from './prep.js';
export type { FileSource } from './source.js';
export type { Tensor, TensorData, TensorType } from './tensor.js';
export type { DeviceGraph, DeviceOptions, DeviceProof, DeviceResult, DeviceTensor, GPUBufferLike, GPUDeviceLike } from './webgpu.js';
