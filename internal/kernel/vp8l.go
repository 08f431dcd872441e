package kernel

// VP8LReader reads bits of a lossless WebP image, the lowest one of a byte
// first. The assembly knows the order of its fields.
type VP8LReader struct {
	In   []byte
	Pos  int    // of the next byte
	Bits uint64 // the next bits; those above N may be the same as after Pos
	N    int    // bits that are valid
}

// VP8LFirst is the number of bits that index the first tables of codes.
const VP8LFirst = 8

// VP8LCodes are the tables that package prefix makes of the codes of green, red,
// blue and alpha. Their symbols are at bits 16 to 30.
type VP8LCodes [4][]uint32
