/** Step is an op with its parameters, and the columns that it reads and writes. */
export interface Step {
  op: string;
  version: number;
  in: readonly string[];
  out: readonly string[];
  /** The columns that move with the image: masks, boxes, keypoints. They need a role. */
  moves?: readonly string[];
  params: object;
}

/** Columns are the columns that a step reads and writes. The default is the op's own: `image` for most. */
export interface Columns {
  in?: readonly string[];
  out?: readonly string[];
}
