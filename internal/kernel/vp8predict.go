package kernel

import "encoding/binary"

// The modes of prediction, as VP8Modes returns them. Whole macroblocks and
// chroma use the exported ones.
const (
	VP8DC = iota
	VP8TrueMotion
	VP8Vertical
	VP8Horizontal
	vp8RightDown
	vp8VerticalRight
	vp8LeftDown
	vp8VerticalLeft
	vp8HorizontalDown
	vp8HorizontalUp
)

// VP8PredictBlocks predicts the 16 luma blocks of a macroblock and adds their
// residuals, one after the other. p[at] is the first sample. It reads up to 4
// samples to the left of each row, one above these, and 20 above the
// macroblock. It may change 4 samples to the right of rows 3, 7 and 11.
func VP8PredictBlocks(p []byte, at, stride int, modes *[16]uint8, m *VP8Macroblock) {
	large := m.Bits >= VP8Large
	if !large && vp8PredictBlocks(p, at, stride, modes, m) {
		return
	}
	// The blocks at the right see the same samples above to their right: those
	// of the row of macroblocks above.
	corner := p[at-stride+16:][:4]
	for i := 4; i < 16; i += 4 {
		copy(p[at+(i-1)*stride+16:][:4], corner)
	}
	for i, mode := range modes {
		to := at + i/4*4*stride + i%4*4
		vp8Predict4(p, to, stride, mode)
		count, coef := m.Count[VP8Luma+i], &m.Coef[VP8Luma+i]
		switch {
		case large:
			VP8Add(p[to:], stride, coef, count)
		case count > 1 || coef[0] != 0:
			vp8AddAll(p[to:], stride, coef)
		}
	}
}

// Eight bytes at once, without their lowest bits.
const vp8Even = 0xFEFEFEFEFEFEFEFE

// vp8Mean2 returns the means of eight pairs of bytes, rounded up.
func vp8Mean2(a, b uint64) uint64 { return (a | b) - (a^b)&vp8Even>>1 }

// vp8Mean3 returns the means of triples, b counted twice, rounded to nearest.
func vp8Mean3(a, b, c uint64) uint64 { return vp8Mean2(b, a&c+(a^c)&vp8Even>>1) }

// vp8Spread moves four bytes to every second one.
func vp8Spread(v uint64) uint64 {
	v &= 0xFFFFFFFF
	v = (v | v<<16) & 0x0000FFFF0000FFFF
	return (v | v<<8) & 0x00FF00FF00FF00FF
}

// vp8Predict4 predicts a block of 4x4 samples (section 12.3). Words hold the
// samples at its edge, the first one lowest.
func vp8Predict4(p []byte, at, stride int, mode uint8) {
	above := binary.LittleEndian.Uint64(p[at-stride:]) // and to the right
	corner := uint64(p[at-stride-1])
	rows := p[at-1 : at+3*stride+4]
	l0, l1, l2, l3 := uint64(rows[0]), uint64(rows[stride]), uint64(rows[2*stride]), uint64(rows[3*stride])
	// around goes from the lowest sample at the left to the third one above.
	around := l3 | l2<<8 | l1<<16 | l0<<24 | corner<<32 | above<<40
	var r0, r1, r2, r3 uint64
	switch mode {
	case VP8DC:
		sum := l0 + l1 + l2 + l3 + above&0xFF + above>>8&0xFF + above>>16&0xFF + above>>24&0xFF
		r0 = (sum + 4) >> 3 * 0x01010101
		r1, r2, r3 = r0, r0, r0
	case VP8TrueMotion:
		VP8True(p, at, stride, 4)
		return
	case VP8Vertical:
		r0 = vp8Mean3(above<<8|corner, above, above>>8)
		r1, r2, r3 = r0, r0, r0
	case VP8Horizontal:
		left := l0 | l1<<8 | l2<<16 | l3<<24
		m := vp8Mean3(left<<8|corner, left, left>>8|l3<<24)
		r0, r1 = m&0xFF*0x01010101, m>>8&0xFF*0x01010101
		r2, r3 = m>>16&0xFF*0x01010101, m>>24&0xFF*0x01010101
	case vp8RightDown:
		m := vp8Mean3(around, around>>8, around>>16|above>>24<<48)
		r0, r1, r2, r3 = m>>24, m>>16, m>>8, m
	case vp8VerticalRight:
		s := around>>8 | above>>24<<56
		m := vp8Mean3(s, s>>8, s>>16)
		r0, r1 = vp8Mean2(s>>24, s>>32), m>>16
		r2, r3 = r0<<8|m>>8&0xFF, r1<<8|m&0xFF
	case vp8LeftDown:
		m := vp8Mean3(above, above>>8, above>>16|above>>56<<48)
		r0, r1, r2, r3 = m, m>>8, m>>16, m>>24
	case vp8VerticalLeft:
		r0, r1 = vp8Mean2(above, above>>8), vp8Mean3(above, above>>8, above>>16)
		r2 = r0>>8&0xFFFFFF | r1>>32<<24
		r3 = r1>>8&0xFFFFFF | r1>>40<<24
	case vp8HorizontalDown:
		m := vp8Mean3(around, around>>8, around>>16)
		s := vp8Spread(vp8Mean2(around, around>>8)) | vp8Spread(m)<<8
		r0, r1, r2, r3 = s>>48|m>>32<<16, s>>32, s>>16, s
	case vp8HorizontalUp:
		left := l0 | l1<<8 | l2<<16 | l3*0x0101010101<<24
		s := vp8Spread(vp8Mean2(left, left>>8)) | vp8Spread(vp8Mean3(left, left>>8, left>>16))<<8
		r0, r1, r2, r3 = s, s>>16, s>>32, l3*0x01010101
	}
	rows = rows[1:]
	binary.LittleEndian.PutUint32(rows, uint32(r0))
	binary.LittleEndian.PutUint32(rows[stride:], uint32(r1))
	binary.LittleEndian.PutUint32(rows[2*stride:], uint32(r2))
	binary.LittleEndian.PutUint32(rows[3*stride:], uint32(r3))
}
