/**
 * Decoding says which JPEG files the browser decodes.
 *
 * The browser decodes files of the kinds whose samples it decoded to exactly
 * the bytes of this package's own decoder. It decodes to the planes of Y, Cb
 * and Cr, by WebCodecs; the conversion to RGB is always this package's, because
 * browsers' own is not exact.
 */
export interface Decoding {
  /** What {@link InitOptions} asks for. */
  decode: 'own' | 'browser';
  /** Why no kind can be decoded by the browser. Absent if the kinds were tried. */
  reason?: string;
  /** What was found of each kind, such as `jpeg baseline 4:2:0` and `jpeg progressive 4:4:4, ICC profile`. */
  kinds: Record<string, DecodingKind>;
}

/** DecodingKind is what was found of one kind of file. */
export interface DecodingKind {
  /** Who decodes files of this kind. */
  way: 'own' | 'browser';
  /** The samples, and how many of them the browser decoded. The others are damaged files, which are not passed to it. */
  samples: number;
  decoded: number;
  /** Whether the browser's result was equal in every byte for every sample that it decoded. */
  equal: boolean;
  /** The form of the browser's pixels, such as I420. */
  format: string;
  /** The time of the browser's way and of the own way for the samples that the browser decoded. */
  browserMilliseconds: number;
  ownMilliseconds: number;
  /** Why the own decoder is used. */
  reason?: string;
}
