package recordio

import "encoding/binary"

// findMagic is the place of the first magic word at a multiple of 4 in b, whose
// beginning is at such a place; -1 if there is none.
func findMagic(b []byte) int {
	const both = Magic<<32 | Magic
	// (x-1) &^ x has the highest bit of a half set if the half is 0; if the lower
	// half is 0 the borrow may set the upper one's too, so that both are looked at.
	const ones, tops = 1<<32 | 1, 1<<63 | 1<<31
	i := 0
	for ; i+32 <= len(b); i += 32 {
		w := b[i : i+32 : i+32]
		x0 := binary.LittleEndian.Uint64(w) ^ both
		x1 := binary.LittleEndian.Uint64(w[8:]) ^ both
		x2 := binary.LittleEndian.Uint64(w[16:]) ^ both
		x3 := binary.LittleEndian.Uint64(w[24:]) ^ both
		if ((x0-ones)&^x0|(x1-ones)&^x1|(x2-ones)&^x2|(x3-ones)&^x3)&tops != 0 {
			for j := 0; j < 32; j += align {
				if word(w[j:]) == Magic {
					return i + j
				}
			}
		}
	}
	for ; i+align <= len(b); i += align {
		if word(b[i:]) == Magic {
			return i
		}
	}
	return -1
}
