import type { Decoding } from './decoding.js';
import type { Column, Description, Limits, Output, Trace } from './engine.js';
import type { ErrorCode } from './errors.js';
import type { Portable } from './inputs.js';

/** Thread is a Worker of the browser or of node. */
export interface Thread {
  post(message: Request, transfer: Transferable[]): void;
  /** listen sets the functions to call for replies, and when the Worker fails. */
  listen(message: (reply: Reply) => void, error: (cause: unknown) => void): void;
  /** busy says whether the process must wait for the Worker. */
  busy(is: boolean): void;
  end(): void;
}

/**
 * Request is what a pool asks of a Worker. It sends one after another: each
 * but `close` has a {@link Reply}. `graph` is the graph of a program that the
 * Worker does not have yet.
 */
export type Request =
  | { call: 'start'; module: WebAssembly.Module; limits: Required<Limits>; decode: Decoding['decode'] }
  | { call: 'decoding' }
  | { call: 'open'; program: number; graph: Uint8Array }
  | { call: 'sizes'; program: number; graph?: Uint8Array; height: number; width: number }
  | { call: 'run' | 'trace'; program: number; graph?: Uint8Array; inputs: Portable[] }
  | { call: 'close'; program: number };

/** Reply answers a request. */
export type Reply = { memory: number } & ({ value: Value } | { error: { code: ErrorCode; message: string } });

/** Value is the result of a request. */
export type Value = undefined | Decoding | Column[] | Description[] | Output[] | Trace[];
