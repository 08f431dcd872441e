package kernel

import "encoding/binary"

// FindWord returns the index of the first little-endian word w at a multiple of
// 4 in b, or -1. It ignores bytes after the last whole word.
func FindWord(b []byte, w uint32) int {
	i := findWord(b, w)
	both := uint64(w)<<32 | uint64(w)
	// (x-1) &^ x sets the highest bit of a half that is 0. If the lower half is
	// 0, the borrow may set the bit of the upper half too, so both are checked.
	const ones, tops = 1<<32 | 1, 1<<63 | 1<<31
	for ; i+32 <= len(b); i += 32 {
		p := b[i : i+32 : i+32]
		x0 := binary.LittleEndian.Uint64(p) ^ both
		x1 := binary.LittleEndian.Uint64(p[8:]) ^ both
		x2 := binary.LittleEndian.Uint64(p[16:]) ^ both
		x3 := binary.LittleEndian.Uint64(p[24:]) ^ both
		if ((x0-ones)&^x0|(x1-ones)&^x1|(x2-ones)&^x2|(x3-ones)&^x3)&tops != 0 {
			for j := 0; j < 32; j += 4 {
				if binary.LittleEndian.Uint32(p[j:]) == w {
					return i + j
				}
			}
		}
	}
	for ; i+4 <= len(b); i += 4 {
		if binary.LittleEndian.Uint32(b[i:]) == w {
			return i
		}
	}
	return -1
}
