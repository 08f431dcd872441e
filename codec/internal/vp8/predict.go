package vp8

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// The modes of prediction, as kernel.VP8Modes returns them. Whole macroblocks
// and chroma use the first four.
const (
	modeDC = iota
	modeTrue
	modeVertical
	modeHorizontal
	modeRightDown
	modeVerticalRight
	modeLeftDown
	modeVerticalLeft
	modeHorizontalDown
	modeHorizontalUp
)

// macroblock decodes one macroblock.
func (d *Decoder) macroblock(x, y int, tokens *kernel.VP8Reader) {
	mb, b, r := &d.row[x], &d.block, &d.first
	segment := 0
	if d.mapped {
		segment = 2 * r.Bit(d.segmentProbs[0])
		segment += r.Bit(d.segmentProbs[1+segment/2])
	}
	skip := d.skips && r.Bit(d.skipProb) != 0
	b.Y2 = r.Bit(145) != 0
	var luma uint8 // the mode of the whole macroblock
	if b.Y2 {
		luma = readLuma(r)
		d.left = [4]uint8{luma, luma, luma, luma}
		mb.modes = d.left
	} else {
		kernel.VP8Modes(r, &modeProbs, &mb.modes, &d.left, &d.modes)
	}
	chroma := readChroma(r)

	empty := true
	if skip {
		// A macroblock without means does not change their contexts.
		left, above := b.Left[8], mb.above[8]
		b.Left, mb.above = [16]uint8{}, [16]uint8{}
		if !b.Y2 {
			b.Left[8], mb.above[8] = left, above
		}
	} else {
		b.Probs, b.Quant, b.Above = &d.probs, &d.quants[segment], &mb.above
		b.Read(tokens)
		if b.Y2 && b.Count[kernel.VP8Y2] > 0 {
			kernel.VP8Means(b)
		}
		for i := kernel.VP8Luma; i < kernel.VP8Blocks && empty; i++ {
			empty = b.Count[i] <= 1 && b.Coef[i][0] == 0
		}
	}
	if b.Y2 {
		d.predictLuma(luma, x, y, empty)
	} else {
		d.predictBlocks(x, empty)
	}
	d.predictChroma(chroma, x, y, empty)
	if !skip {
		clear(b.Coef[:])
	}

	blocks := 1
	if b.Y2 {
		blocks = 0
	}
	mb.filter = d.filters[segment][blocks]
	mb.filter.Inner = mb.filter.Inner || !empty
	mb.filter.Left, mb.filter.Above = x > 0, y > 0
}

func readLuma(r *kernel.VP8Reader) uint8 {
	if r.Bit(156) == 0 {
		if r.Bit(163) == 0 {
			return modeDC
		}
		return modeVertical
	}
	if r.Bit(128) == 0 {
		return modeHorizontal
	}
	return modeTrue
}

func readChroma(r *kernel.VP8Reader) uint8 {
	switch {
	case r.Bit(142) == 0:
		return modeDC
	case r.Bit(114) == 0:
		return modeVertical
	case r.Bit(183) == 0:
		return modeHorizontal
	}
	return modeTrue
}

// predictLuma predicts a macroblock at once and adds its residuals.
func (d *Decoder) predictLuma(mode uint8, x, y int, empty bool) {
	b, p := &d.block, &d.planes[0]
	at := p.at(x)
	p.predict(mode, at, x, y)
	if empty {
		return
	}
	for i := 0; i < 16; i += 4 {
		count := b.Count[kernel.VP8Luma+i:][:4]
		coef := b.Coef[kernel.VP8Luma+i:][:4]
		to := at + i*p.stride
		switch {
		case b.Bits >= kernel.VP8Large:
			for k := range coef {
				kernel.VP8Add(p.pix[to+4*k:], p.stride, &coef[k], count[k])
			}
		case count[0]|count[1]|count[2]|count[3] > 1 || coef[0][0]|coef[1][0]|coef[2][0]|coef[3][0] != 0:
			kernel.VP8AddRow(p.pix[to:], p.pix[to+8:], p.stride, (*[2][16]int16)(coef), (*[2][16]int16)(coef[2:]))
		}
	}
}

// predictBlocks predicts the blocks of 4x4 samples and adds their residuals,
// one after the other.
func (d *Decoder) predictBlocks(x int, empty bool) {
	b, p := &d.block, &d.planes[0]
	at := p.at(x)
	// The blocks at the right see the same samples above to their right: those
	// of the row of macroblocks above.
	corner := p.pix[at-p.stride+16:][:4]
	for i := 4; i < 16; i += 4 {
		copy(p.pix[at+(i-1)*p.stride+16:][:4], corner)
	}
	for i, mode := range d.modes {
		to := at + i/4*4*p.stride + i%4*4
		predict4(p.pix, to, p.stride, mode)
		count, coef := b.Count[kernel.VP8Luma+i], &b.Coef[kernel.VP8Luma+i]
		switch {
		case empty || count <= 1 && coef[0] == 0:
		case b.Bits >= kernel.VP8Large:
			kernel.VP8Add(p.pix[to:], p.stride, coef, count)
		default:
			kernel.VP8AddBlock(p.pix[to:], p.stride, coef)
		}
	}
}

// predictChroma predicts both planes of chroma and adds their residuals.
func (d *Decoder) predictChroma(mode uint8, x, y int, empty bool) {
	b, u, v := &d.block, &d.planes[1], &d.planes[2]
	at := u.at(x)
	u.predict(mode, at, x, y)
	v.predict(mode, at, x, y)
	if empty {
		return
	}
	count, coef := b.Count[kernel.VP8Chroma:][:8], b.Coef[kernel.VP8Chroma:][:8]
	if b.Bits >= kernel.VP8Large {
		for i, p := range [2]*plane{u, v} {
			most := max(count[4*i], count[4*i+1], count[4*i+2], count[4*i+3])
			if most > 1 {
				most = 16 // libwebp has no transform of three coefficients here
			}
			for k := range 4 {
				kernel.VP8Add(p.pix[at+k/2*4*p.stride+k%2*4:], p.stride, &coef[4*i+k], most)
			}
		}
		return
	}
	for i := 0; i < 4; i += 2 {
		to := at + i*2*u.stride
		kernel.VP8AddRow(u.pix[to:], v.pix[to:], u.stride, (*[2][16]int16)(coef[i:]), (*[2][16]int16)(coef[4+i:]))
	}
}

// predict predicts a whole macroblock whose first sample is at.
func (p *plane) predict(mode uint8, at, x, y int) {
	n, stride := p.size, p.stride
	switch mode {
	case modeDC:
		sum, count := 0, 0
		if y > 0 {
			for i := 0; i < n; i += 8 {
				v := binary.LittleEndian.Uint64(p.pix[at-stride+i:])
				v = v&0x00FF00FF00FF00FF + v>>8&0x00FF00FF00FF00FF
				sum += int(v * 0x0001000100010001 >> 48)
			}
			count = n
		}
		if x > 0 {
			for i := at - 1; i < at-1+n*stride; i += stride {
				sum += int(p.pix[i])
			}
			count += n
		}
		v := 128
		if count > 0 { // a power of 2
			v = (sum + count/2) / count
		}
		kernel.VP8Fill(p.pix, at, stride, n, uint8(v))
	case modeTrue:
		kernel.VP8True(p.pix, at, stride, n)
	case modeVertical:
		above := p.pix[at-stride:][:n]
		for i := range n {
			copy(p.pix[at+i*stride:][:n], above)
		}
	case modeHorizontal:
		for i := range n {
			kernel.VP8Fill(p.pix[at+i*stride:], 0, 0, n, p.pix[at+i*stride-1])
		}
	}
}

// Eight bytes at once, without their lowest bits.
const even = 0xFEFEFEFEFEFEFEFE

// mean2 returns the means of eight pairs of bytes, rounded up.
func mean2(a, b uint64) uint64 { return (a | b) - (a^b)&even>>1 }

// mean3 returns the means of triples, b counted twice, rounded to nearest.
func mean3(a, b, c uint64) uint64 { return mean2(b, a&c+(a^c)&even>>1) }

// spread moves four bytes to every second one.
func spread(v uint64) uint64 {
	v &= 0xFFFFFFFF
	v = (v | v<<16) & 0x0000FFFF0000FFFF
	return (v | v<<8) & 0x00FF00FF00FF00FF
}

// predict4 predicts a block of 4x4 samples (section 12.3). Words hold the
// samples at its edge, the first one lowest.
func predict4(p []byte, at, stride int, mode uint8) {
	above := binary.LittleEndian.Uint64(p[at-stride:]) // and to the right
	corner := uint64(p[at-stride-1])
	rows := p[at-1 : at+3*stride+4]
	l0, l1, l2, l3 := uint64(rows[0]), uint64(rows[stride]), uint64(rows[2*stride]), uint64(rows[3*stride])
	// around goes from the lowest sample at the left to the third one above.
	around := l3 | l2<<8 | l1<<16 | l0<<24 | corner<<32 | above<<40
	var r0, r1, r2, r3 uint64
	switch mode {
	case modeDC:
		sum := l0 + l1 + l2 + l3 + above&0xFF + above>>8&0xFF + above>>16&0xFF + above>>24&0xFF
		r0 = (sum + 4) >> 3 * 0x01010101
		r1, r2, r3 = r0, r0, r0
	case modeTrue:
		kernel.VP8True(p, at, stride, 4)
		return
	case modeVertical:
		r0 = mean3(above<<8|corner, above, above>>8)
		r1, r2, r3 = r0, r0, r0
	case modeHorizontal:
		left := l0 | l1<<8 | l2<<16 | l3<<24
		m := mean3(left<<8|corner, left, left>>8|l3<<24)
		r0, r1 = m&0xFF*0x01010101, m>>8&0xFF*0x01010101
		r2, r3 = m>>16&0xFF*0x01010101, m>>24&0xFF*0x01010101
	case modeRightDown:
		m := mean3(around, around>>8, around>>16|above>>24<<48)
		r0, r1, r2, r3 = m>>24, m>>16, m>>8, m
	case modeVerticalRight:
		s := around>>8 | above>>24<<56
		m := mean3(s, s>>8, s>>16)
		r0, r1 = mean2(s>>24, s>>32), m>>16
		r2, r3 = r0<<8|m>>8&0xFF, r1<<8|m&0xFF
	case modeLeftDown:
		m := mean3(above, above>>8, above>>16|above>>56<<48)
		r0, r1, r2, r3 = m, m>>8, m>>16, m>>24
	case modeVerticalLeft:
		r0, r1 = mean2(above, above>>8), mean3(above, above>>8, above>>16)
		r2 = r0>>8&0xFFFFFF | r1>>32<<24
		r3 = r1>>8&0xFFFFFF | r1>>40<<24
	case modeHorizontalDown:
		m := mean3(around, around>>8, around>>16)
		s := spread(mean2(around, around>>8)) | spread(m)<<8
		r0, r1, r2, r3 = s>>48|m>>32<<16, s>>32, s>>16, s
	case modeHorizontalUp:
		left := l0 | l1<<8 | l2<<16 | l3*0x0101010101<<24
		s := spread(mean2(left, left>>8)) | spread(mean3(left, left>>8, left>>16))<<8
		r0, r1, r2, r3 = s, s>>16, s>>32, l3*0x01010101
	}
	rows = rows[1:]
	binary.LittleEndian.PutUint32(rows, uint32(r0))
	binary.LittleEndian.PutUint32(rows[stride:], uint32(r1))
	binary.LittleEndian.PutUint32(rows[2*stride:], uint32(r2))
	binary.LittleEndian.PutUint32(rows[3*stride:], uint32(r3))
}
