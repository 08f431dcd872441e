package vp8

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/internal/kernel"
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
		empty = b.Empty()
	}
	if b.Y2 {
		d.predictLuma(luma, x, y, empty)
	} else {
		// Without coefficients all of them are 0, whatever their counts say.
		p := &d.planes[0]
		kernel.VP8PredictBlocks(p.pix, p.at(x), p.stride, &d.modes, b)
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
			return kernel.VP8DC
		}
		return kernel.VP8Vertical
	}
	if r.Bit(128) == 0 {
		return kernel.VP8Horizontal
	}
	return kernel.VP8TrueMotion
}

func readChroma(r *kernel.VP8Reader) uint8 {
	switch {
	case r.Bit(142) == 0:
		return kernel.VP8DC
	case r.Bit(114) == 0:
		return kernel.VP8Vertical
	case r.Bit(183) == 0:
		return kernel.VP8Horizontal
	}
	return kernel.VP8TrueMotion
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
	case kernel.VP8DC:
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
	case kernel.VP8TrueMotion:
		kernel.VP8True(p.pix, at, stride, n)
	case kernel.VP8Vertical:
		above := p.pix[at-stride:][:n]
		for i := range n {
			copy(p.pix[at+i*stride:][:n], above)
		}
	case kernel.VP8Horizontal:
		for i := range n {
			kernel.VP8Fill(p.pix[at+i*stride:], 0, 0, n, p.pix[at+i*stride-1])
		}
	}
}
