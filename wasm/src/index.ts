/// <reference lib="dom" preserve="true" />
/**
 * infer-prep for browsers and node: images and sounds become tensors
 * with the bytes of Python's preprocessing.
 *
 * @packageDocumentation
 */
export type { Bundle, Mismatch, Model } from './bundle.js';
export type { Decoding, DecodingKind } from './decoding.js';
export type { Description, Limits, Trace } from './engine.js';
export { InferPrepError, type ErrorCode } from './errors.js';
export type { ImageInput, Input, SoundInput, TensorInput } from './inputs.js';
export type { Exactness, Expected, Golden, Section } from './manifest.js';
export type { Graph, Result, RunOptions } from './open-graph.js';
export { createPool, type PoolOptions } from './pool.js';
export { init, type HFOptions, type InferPrep, type InitOptions } from './prep.js';
export type { Samples } from './samples.js';
export type { FileSource } from './source.js';
export type { Parts, SoundStream, StreamOptions } from './stream.js';
export type { Tensor, TensorData, TensorType } from './tensor.js';
export type { DeviceGraph, DeviceOptions, DeviceProof, DeviceResult, DeviceTensor, GPUBufferLike, GPUDeviceLike } from './webgpu.js';
