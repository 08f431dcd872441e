package inflate

import "io"

// An entry of a table. The lowest 6 bits are the number of bits that it stands
// for. Of a literal bits 8 to 23 are one or two bytes of output, whose number
// are bits 24 and 25. Of a length or a distance bits 16 to 30 are its base, the
// number of bits includes the extra ones, and bits 8 to 11 are those of the
// code alone. isOther without isEnd and isBad leads to a second table, which
// begins at bits 16 to 30 and is indexed by as many further bits as bits 8 to
// 11 say.
const (
	isLiteral = 1 << 31
	isOther   = 1 << 15
	isEnd     = 1 << 14
	isBad     = 1 << 13
)

// The first table of a code has an entry for so many bits. The sizes with all
// second tables are those that zlib's enough.c computes, rounded up to powers
// of two.
const (
	litBits  = 11
	distBits = 8
	litSize  = 4096 // of 2342
	distSize = 512  // of 402

	maxBits  = 15
	litCodes = 288
)

type tables struct {
	lit      [litSize]uint32
	dist     [distSize]uint32
	lengths  [litCodes + 32]uint8
	sorted   [litCodes]uint16
	isFixed  bool
	codeLens [128]uint32
}

// The symbols' entries without the bits of their codes: base<<16 | extra bits.
var (
	litSymbols  [litCodes]uint32
	distSymbols [32]uint32
	codeSymbols [19]uint32
)

func init() {
	for i := range 256 {
		litSymbols[i] = isLiteral | 1<<24 | uint32(i)<<8
	}
	litSymbols[256] = isOther | isEnd
	base := uint32(3)
	for i := range 28 {
		extra := uint32(max(0, i/4-1))
		litSymbols[257+i] = base<<16 | extra
		base += 1 << extra
	}
	litSymbols[285] = 258 << 16
	litSymbols[286], litSymbols[287] = isOther|isBad, isOther|isBad
	base = 1
	for i := range 30 {
		extra := uint32(max(0, i/2-1))
		distSymbols[i] = base<<16 | extra
		base += 1 << extra
	}
	distSymbols[30], distSymbols[31] = isOther|isBad, isOther|isBad
	for i := range codeSymbols {
		codeSymbols[i] = uint32(i) << 16
	}
}

// fixed makes the tables of the fixed codes.
func (t *tables) fixed() {
	if t.isFixed {
		return
	}
	l := t.lengths[:litCodes]
	for i := range l {
		switch {
		case i < 144:
			l[i] = 8
		case i < 256:
			l[i] = 9
		case i < 280:
			l[i] = 7
		default:
			l[i] = 8
		}
	}
	t.build(t.lit[:], litBits, l, litSymbols[:], false)
	l = t.lengths[litCodes:]
	for i := range l {
		l[i] = 5
	}
	t.build(t.dist[:], distBits, l, distSymbols[:], false)
	t.isFixed = true
}

// order is the order of the lengths of the codes of code lengths.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block.
func (r *Reader) dynamic() error {
	r.isFixed = false
	if !r.need(14) {
		return io.ErrUnexpectedEOF
	}
	nlit, ndist, ncode := int(r.take(5))+257, int(r.take(5))+1, int(r.take(4))+4
	if nlit > 286 || ndist > 30 {
		return ErrData
	}
	var lens [19]uint8
	for _, i := range order[:ncode] {
		if !r.need(3) {
			return io.ErrUnexpectedEOF
		}
		lens[i] = uint8(r.take(3))
	}
	if !r.build(r.codeLens[:], 7, lens[:], codeSymbols[:], true) {
		return ErrData
	}
	l := r.lengths[:nlit+ndist]
	for i := 0; i < len(l); {
		// The bits of a code, and of the number of repetitions.
		enough := r.need(14)
		e := r.codeLens[r.bits&127]
		used := uint(e & 63)
		if used > r.n {
			return io.ErrUnexpectedEOF
		}
		if e&isOther != 0 { // no code at all
			if !enough && r.n == 0 {
				return io.ErrUnexpectedEOF
			}
			return ErrData
		}
		s := e >> 16
		if s < 16 {
			r.take(used)
			l[i] = uint8(s)
			i++
			continue
		}
		value, extra, least := uint8(0), uint(3), 3
		switch s {
		case 16:
			if i == 0 {
				return ErrData
			}
			value, extra = l[i-1], 2
		case 18:
			extra, least = 7, 11
		}
		if used+extra > r.n {
			return io.ErrUnexpectedEOF
		}
		r.take(used)
		n := least + int(r.take(extra))
		if n > len(l)-i {
			return ErrData
		}
		for range n {
			l[i] = value
			i++
		}
	}
	if l[256] == 0 || !r.build(r.lit[:], litBits, l[:nlit], litSymbols[:], false) || !r.build(r.dist[:], distBits, l[nlit:], distSymbols[:], false) {
		return ErrData
	}
	return nil
}

// build makes the table of a canonical Huffman code from the lengths of its
// codes. It reports whether they form a code: a complete one, a single code of
// one bit, or none at all. Of these complete allows the first alone.
func (t *tables) build(table []uint32, first uint, lengths []uint8, symbols []uint32, complete bool) bool {
	var count [maxBits + 1]int
	for _, l := range lengths {
		count[l]++
	}
	left, most := 1, 0
	for l := 1; l <= maxBits; l++ {
		left = left<<1 - count[l]
		if left < 0 {
			return false
		}
		if count[l] > 0 {
			most = l
		}
	}
	if left > 0 && most > 0 && (complete || most != 1) {
		return false
	}
	if left > 0 { // the bits of no code
		bad := uint32(isOther | isBad | 1)
		for i := range table[:1<<first] {
			table[i] = bad
		}
	}
	var next [maxBits + 2]int // of the symbols by length
	for l := 1; l <= maxBits; l++ {
		next[l+1] = next[l] + count[l]
	}
	for s, l := range lengths {
		if l > 0 {
			t.sorted[next[l]] = uint16(s)
			next[l]++
		}
	}
	// The codes in order; code has the bits in the order of the stream.
	code, i := uint(0), 0
	free, sub, subBits := 1<<first, 0, uint(0)
	prefix := ^uint(0) // of the second table
	for l := uint(1); l <= uint(most); l++ {
		for left := count[l]; left > 0; left-- {
			s := symbols[t.sorted[i]]
			i++
			// The bits of the code join those of the symbol.
			e := s + uint32(l)
			if s&(isLiteral|isOther) == 0 {
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
						return false
					}
					table[p] = isOther | uint32(sub)<<16 | uint32(subBits)<<8
				}
				for k := code >> first; k < 1<<subBits; k += 1 << (l - first) {
					table[sub+int(k)] = e
				}
			}
			code = following(code, l)
		}
	}
	if first == litBits {
		pair(table)
	}
	return true
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

// pair joins two literals whose codes fit into the index of the first table.
func pair(table []uint32) {
	for i := 1<<litBits - 1; i >= 0; i-- {
		e := table[i]
		if e&isLiteral == 0 {
			continue
		}
		// A smaller index, which is not a pair yet.
		f := table[i>>(e&63)]
		if f&isLiteral == 0 || e&63+f&63 > litBits {
			continue
		}
		table[i] = isLiteral | 2<<24 | f&0xFF00<<8 | e&0xFF00 | (e&63 + f&63)
	}
}

// first returns the first of two literals, and its bits.
func (t *tables) first(e uint32) (uint32, uint) {
	l := uint(t.lengths[e>>8&255])
	return isLiteral | 1<<24 | e&0xFF00 | uint32(l), l
}
