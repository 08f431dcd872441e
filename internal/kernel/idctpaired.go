package kernel

// Places maps k, one more than the zigzag index of a coefficient, to twice the
// coefficient's position in a block. Corrupt data may exceed the last
// coefficient, and takes its place.
type Places [256]uint8

// At returns the position of the coefficient with zigzag index k-1.
func (p *Places) At(k uint) uint8 { return p[uint8(k)] >> 1 & 63 }

// NaturalPlaces is the order of rows.
var NaturalPlaces = places(func(at uint8) uint8 { return at })

// PairedPlaces is the order of IDCTRowPaired. Rows 0 and 4, 7 and 1, 2 and 6, 3
// and 5 alternate, as the inverse DCT multiplies and adds their words in pairs.
// For the same reason columns 0, 4, 7, 1, 2, 6, 3, 5 follow each other.
var PairedPlaces = places(paired)

// paired maps a position in natural order to one in paired order.
func paired(at uint8) uint8 {
	place := [8]uint8{0, 3, 4, 6, 1, 7, 5, 2}
	r, c := place[at/8], place[at%8]
	return r>>1*16 + c*2 + r&1
}

func places(position func(uint8) uint8) (t Places) {
	for k := range t {
		t[k] = 2 * position(NaturalOrder[min(max(k-1, 0), 63)])
	}
	return t
}

// IDCTRowPaired is IDCTRow of blocks and a table in paired order. It clears the
// blocks.
func IDCTRowPaired(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) {
	for len(blocks) > 0 {
		n := idctRowPaired(dst, stride, blocks, quant, last)
		if n == len(blocks) {
			return
		}
		// The values of block n exceed those that the assembly computes, or
		// there is no assembly.
		var b [1][64]int16
		var q [64]int16
		for i := range q {
			p := paired(uint8(i))
			b[0][i], q[i] = blocks[n][p], quant[p]
		}
		IDCTRow(dst[8*n:], stride, b[:], &q, last[n:n+1])
		blocks[n] = [64]int16{}
		n++
		if blocks, last = blocks[n:], last[n:]; len(blocks) > 0 {
			dst = dst[8*n:]
		}
	}
}
