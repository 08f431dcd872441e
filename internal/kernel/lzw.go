package kernel

// LZWCodes is the most codes of an LZW.
const LZWCodes = 1<<12 - 1 + 1024

// LZW is the state of an LZW decoder in the middle of its data. The assembly
// knows the order of its fields.
type LZW struct {
	// The string of a code: its first 8 bytes, the lowest first and followed by
	// zeros, its length, and where it is in the output if that is more than 8.
	// The first two fit into the first level of a cache.
	First  [LZWCodes]uint64
	Length [LZWCodes]uint16
	Start  [LZWCodes]int

	// Run sets these.
	in     *uint8
	inEnd  int // the last byte at which a group of codes may start
	out    *uint8
	outEnd int // the last byte at which the strings of a group may start
	most   int // the largest Free with which a group may start

	Bit     int    // the number of the next bit
	N       int    // bytes of the output that are written
	Width   int    // bits of a code
	Free    int    // the next code
	Clear   int    // the code that clears the table; the next one ends the data
	Last    uint64 // the string before this one, as in First
	LastLen int    // its length
}
