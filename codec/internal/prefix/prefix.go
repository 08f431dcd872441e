// Package prefix builds tables of canonical Huffman codes whose first bit is
// the lowest one of a number, as those of deflate (RFC 1951) and of VP8L (RFC
// 9649).
package prefix

// An entry of a table is the symbol's, which the caller chooses, with the
// number of the code's bits added. Its lowest 6 bits are for that. Sub without
// one of the flags in the symbol leads to a second table, which begins at bits
// 16 to 30 and is indexed by as many further bits as bits 8 to 11 say.
const (
	// Sub marks an entry that leads to a second table. A symbol has it only
	// together with a flag of the caller.
	Sub = 1 << 15
	// Own marks a symbol that has no number of bits in bits 8 to 11, which
	// those of others have too.
	Own = 1 << 31
	// Bad marks the bits of no code. An entry has Sub, too.
	Bad = 1 << 13
)

// MaxBits is the most bits of a code.
const MaxBits = 15

// Code is what Complete says of a code.
type Code uint8

const (
	// Whole is a code of which each sequence of bits has a meaning.
	Whole Code = iota
	// Single has one symbol.
	Single
	// Empty has none.
	Empty
	// Invalid has too many codes, or too few.
	Invalid
)

// Builder keeps memory for further tables.
type Builder struct{ sorted []uint16 }

// Kind returns the kind of a code by the lengths of its symbols' codes.
func Kind(lengths []uint8) Code {
	var count [MaxBits + 1]int
	for _, l := range lengths {
		count[l]++
	}
	left := 1
	for _, n := range count[1:] {
		if left = left<<1 - n; left < 0 {
			return Invalid
		}
	}
	switch n := len(lengths) - count[0]; {
	case n == 0:
		return Empty
	case n == 1:
		return Single
	case left > 0:
		return Invalid
	}
	return Whole
}

// Build makes the table of a code of any kind but Invalid, with 1<<first
// entries and second tables after them. A single symbol has the code that its
// length says. It returns the number of entries, or -1 if table is too short.
func (b *Builder) Build(table []uint32, first uint, lengths []uint8, symbols []uint32) int {
	var count [MaxBits + 1]int
	for _, l := range lengths {
		count[l]++
	}
	var next [MaxBits + 2]int // of the symbols by length
	most := 0
	for l := 1; l <= MaxBits; l++ {
		next[l+1] = next[l] + count[l]
		if count[l] > 0 {
			most = l
		}
	}
	n := next[MaxBits+1]
	if n < 2 {
		for i := range table[:1<<first] {
			table[i] = Sub | Bad | 1
		}
	}
	if cap(b.sorted) < n {
		b.sorted = make([]uint16, len(lengths))
	}
	sorted := b.sorted[:n]
	for s, l := range lengths {
		if l > 0 {
			sorted[next[l]] = uint16(s)
			next[l]++
		}
	}
	// The codes in order; code has the bits in the order of the stream.
	code := uint(0)
	free, sub, subBits := 1<<first, 0, uint(0)
	prefix := ^uint(0) // of the second table
	for l := uint(1); l <= uint(most); l++ {
		for left := count[l]; left > 0; left-- {
			s := symbols[sorted[0]]
			sorted = sorted[1:]
			e := s + uint32(l)
			if s&(Own|Sub) == 0 {
				e |= uint32(l) << 8
			}
			if l <= first {
				for k := code; k < 1<<first; k += 1 << l {
					table[k] = e
				}
			} else {
				if p := code & (1<<first - 1); p != prefix {
					// The second table is as large as its codes need.
					prefix, subBits = p, l-first
					for room := 1<<subBits - left; room > 0 && subBits+first < uint(most); {
						subBits++
						room = room<<1 - count[subBits+first]
					}
					sub = free
					if free += 1 << subBits; free > len(table) {
						return -1
					}
					table[p] = Sub | uint32(sub)<<16 | uint32(subBits)<<8
				}
				for k := code >> first; k < 1<<subBits; k += 1 << (l - first) {
					table[sub+int(k)] = e
				}
			}
			code = following(code, l)
		}
	}
	return free
}

// following returns the code after a code of l bits, both in the order of the
// stream, which has the highest bit first.
func following(code, l uint) uint {
	at := uint(1) << (l - 1)
	for at > 0 && code&at != 0 {
		at >>= 1
	}
	if at == 0 {
		return 0
	}
	return code&(at-1) | at
}
