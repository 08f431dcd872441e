package kernel

import "encoding/binary"

// FindWord is the place of the first little-endian word w at a multiple of 4 in b;
// -1 if there is none. Bytes behind the last whole word are not looked at.
func FindWord(b []byte, w uint32) int {
	i := findWord(b, w)
	both := uint64(w)<<32 | uint64(w)
	// (x-1) &^ x has the highest bit of a half set if the half is 0; if the lower
	// half is 0 the borrow may set the upper one's too, so that both are looked at.
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
