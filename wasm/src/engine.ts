import type { Decoding } from './decoding.js';
import { InferPrepError } from './errors.js';
import type { Portable } from './inputs.js';
import type { Tensor, TensorType } from './tensor.js';

/** Limits bound the cost of one run. Exceeding one is an error of code `limit`. */
export interface Limits {
  /** Pixels of an image as stored. Default 100,000,000. */
  pixels?: number;
  /** Bytes of memory for the pixels, a decoder's buffers and the tensors, at most 4 GiB. Default 1 GiB. */
  bytes?: number;
  /** Bytes of an input, checked before it is read. Default 256 MiB. */
  input?: number;
}

/** checked returns limits with their defaults. */
export function checked(limits: Limits = {}): Required<Limits> {
  const all = { pixels: 100e6, bytes: 2 ** 30, input: 2 ** 28 };
  for (const [name, v] of Object.entries(limits) as [keyof Limits, number | undefined][]) {
    if (v === undefined) continue;
    if (!(name in all)) throw new InferPrepError('param', `infer-prep: init: unknown limit "${name}": want ${Object.keys(all).join(', ')}`);
    if (!Number.isSafeInteger(v) || v < 1) throw new InferPrepError('param', `infer-prep: init: limits.${name} is ${v}: must be a whole number from 1`);
    if (name === 'bytes' && v > 2 ** 32) throw new InferPrepError('param', `infer-prep: init: limits.bytes is ${v}: must be at most 4 GiB, the largest memory of a module`);
    all[name] = v;
  }
  return all;
}

/** Description describes an input or output of a graph. */
export interface Description {
  name: string;
  type: TensorType;
  layout: Tensor['layout'];
  /** The sizes without a batch's axis; -1 if they depend on the image. */
  dims: number[];
}

/** Column is a description, and what it is of. */
export interface Column extends Description {
  input: boolean;
  /** Whether batches stack it along a new axis; otherwise they concatenate it. */
  stacked: boolean;
}

/** Output is a tensor with its name. */
export interface Output extends Tensor { name: string }

/** Trace is an output of a step of a graph. */
export interface Trace extends Tensor {
  /** The index of the step, from 0. */
  step: number;
  /** The op of the step. */
  op: string;
}

/** Program is an open graph of an {@link Engine}. */
export interface Program {
  readonly columns: Column[];
}

/**
 * Engine runs graphs. Runs return tensors without a batch's axis, which belong
 * to the caller.
 */
export interface Engine<P extends Program = Program> {
  readonly limits: Required<Limits>;
  /** The bytes of all modules' memory. */
  readonly memoryBytes: number;
  open(graph: Uint8Array): Promise<P>;
  /** sizes describes the outputs, then the side outputs, for an image of a height and a width. */
  sizes(p: P, height: number, width: number): Promise<Description[]>;
  run(p: P, inputs: Portable[], signal?: AbortSignal): Promise<Output[]>;
  trace(p: P, inputs: Portable[], signal?: AbortSignal): Promise<Trace[]>;
  /** decoding says who decodes JPEG files, by a proof that the first call makes. */
  decoding(): Promise<Decoding>;
  close(p: P): void;
  dispose(): void;
}
