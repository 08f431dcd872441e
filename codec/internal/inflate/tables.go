package inflate

import (
	"io"
	"slices"

	"github.com/infer-prep/infer-prep/codec/internal/prefix"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// The flags of an entry, which kernel.InflateLit describes.
const (
	isLiteral = prefix.Own
	isOther   = prefix.Sub
	isEnd     = 1 << 14
	isBad     = prefix.Bad
	isAfter   = 1 << 30 // a length after a literal
)

// The first table of a code has an entry for so many bits. The sizes with all
// second tables are those that zlib's enough.c computes, rounded up to powers
// of two.
const (
	litBits  = 11
	distBits = 8
	litSize  = uint32(len(kernel.InflateLit{}.Entries)) // 2342 are used
	distSize = uint32(len(kernel.InflateDist{}))        // 402 are used

	litCodes = 288
)

type tables struct {
	lit      kernel.InflateLit
	dist     kernel.InflateDist
	lengths  [litCodes + 32]uint8
	builder  prefix.Builder
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
	t.build(t.lit.Entries[:], litBits, l, litSymbols[:], false)
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
	if l[256] == 0 || !r.build(r.lit.Entries[:], litBits, l[:nlit], litSymbols[:], false) || !r.build(r.dist[:], distBits, l[nlit:], distSymbols[:], false) {
		return ErrData
	}
	return nil
}

// build makes a table. It reports whether the lengths form a code: a complete
// one, a single code of one bit, or none at all. Of these whole allows the
// first alone.
func (t *tables) build(table []uint32, first uint, lengths []uint8, symbols []uint32, whole bool) bool {
	switch prefix.Kind(lengths) {
	case prefix.Invalid:
		return false
	case prefix.Single:
		if whole || slices.Max(lengths) != 1 {
			return false
		}
	case prefix.Empty:
		if whole {
			return false
		}
	}
	if t.builder.Build(table, first, lengths, symbols) < 0 {
		return false
	}
	if first == litBits {
		t.join()
	}
	return true
}

// join joins a literal with the literal or the length after it, if the codes of
// both fit into the index of the first table.
func (t *tables) join() {
	table := t.lit.Entries[:1<<litBits]
	for i := len(table) - 1; i >= 0; i-- {
		e := table[i]
		if e&isLiteral == 0 {
			continue
		}
		// A smaller index, which is not joined yet.
		l := e & 63
		switch f := table[i>>l]; {
		case f&isLiteral != 0:
			if l+f&63 <= litBits {
				table[i] = isLiteral | 2<<24 | f&0xFF00<<8 | e&0xFF00 | (l + f&63)
			}
		case f&isOther == 0 && l+f>>8&15 <= litBits:
			table[i] = isAfter | f + l<<8 + l
			t.lit.Literals[i] = uint8(e >> 8)
		}
	}
}

// literal returns the entry of a literal alone, and its bits.
func (t *tables) literal(b uint32) (uint32, uint) {
	l := uint(t.lengths[b])
	return isLiteral | 1<<24 | b<<8 | uint32(l), l
}
