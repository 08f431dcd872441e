/**
 * The kinds of {@link InferPrepError}:
 *
 * - `internal`: a bug in this package. Later calls work.
 * - `load`: the WebAssembly file, a bundle or a Worker cannot be loaded.
 * - `format`: the data is not an image, is damaged, or is truncated.
 * - `unsupported`: valid data that is not decoded here.
 * - `limit`: more pixels or bytes than the limits allow, or than the memory holds.
 * - `graph`: an invalid graph or bundle.
 * - `unknown-op`: an op that this build does not have.
 * - `param`: an invalid parameter of an op or of a function.
 * - `input`: an input that the graph or the function does not accept.
 * - `digest`: bytes of a bundle that changed after they were written.
 * - `signature`: a bundle without a valid signature of the key.
 * - `golden`: a golden sample whose tensors differ.
 * - `disposed`: an object that was disposed of.
 */
export type ErrorCode =
  | 'internal' | 'load' | 'format' | 'unsupported' | 'limit' | 'graph' | 'unknown-op' | 'param' | 'input'
  | 'digest' | 'signature' | 'golden' | 'disposed';

/** InferPrepError is the error of every function of this package, except for aborted calls. */
export class InferPrepError extends Error {
  override readonly name = 'InferPrepError';

  constructor(readonly code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
