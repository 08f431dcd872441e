package jpeg

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// mcuRows returns the number of rows of interleaved MCUs.
func (e *Encoder) mcuRows() int { return ceilDiv(e.height, 8*e.maxV) }

// transform converts, downsamples and transforms MCU row r of t. The
// coefficients go to the first rows of blocks, or in progressive mode to those
// of the MCU row.
func (e *Encoder) transform(t *tensor.Tensor, r int) {
	for g := range 8 { // each group is maxV rows of pixels
		y := (8*r + g) * e.maxV
		if y >= e.height {
			// The last rows after downsampling are repeated.
			for i := range e.comps {
				c := &e.comps[i]
				stride := 8 * c.wBlocks
				last := c.rows[(g*c.v-1)*stride:][:stride]
				for v := range c.v {
					copy(c.rows[(g*c.v+v)*stride:], last)
				}
			}
			continue
		}
		for i := range e.maxV {
			e.convert(t, min(y+i, e.height-1), g, i)
		}
		for i := range e.comps {
			c := &e.comps[i]
			if c.h == e.maxH && c.v == e.maxV {
				continue
			}
			dst := c.rows[g*8*c.wBlocks:][:8*c.wBlocks]
			switch e.o.Chroma {
			case Chroma420:
				kernel.DownsampleH2V2(dst, c.line[0], c.line[1])
			case Chroma422:
				kernel.DownsampleH2V1(dst, c.line[0])
			case Chroma440:
				for x := range dst {
					dst[x] = byte((uint(c.line[0][x]) + uint(c.line[1][x]) + 1) >> 1)
				}
			case Chroma411:
				for x := range dst {
					p := c.line[0][4*x:][:4:4]
					dst[x] = byte((uint(p[0]) + uint(p[1]) + uint(p[2]) + uint(p[3]) + 2) >> 2)
				}
			}
		}
	}
	for i := range e.comps {
		c := &e.comps[i]
		for y := range min(c.v, c.hBlocks-r*c.v) {
			to := y * c.wBlocks
			if e.o.Progressive {
				to += r * c.v * c.wBlocks
			}
			kernel.FDCTRow(c.blocks[to:][:c.wBlocks], c.masks[to:][:c.wBlocks], c.rows[y*64*c.wBlocks:], 8*c.wBlocks, &e.divisors[c.table])
		}
	}
}

// convert converts row y of t to the components, as row i of group g, and
// repeats the last pixel to the end of the blocks.
func (e *Encoder) convert(t *tensor.Tensor, y, g, i int) {
	var to [4][]byte
	for j := range e.comps {
		c := &e.comps[j]
		if c.h == e.maxH && c.v == e.maxV {
			to[j] = c.rows[(g*c.v+i)*8*c.wBlocks:][:8*c.wBlocks]
		} else {
			to[j] = c.line[i]
		}
	}
	w, ch := e.width, t.Channels()
	src := t.Data[y*t.Strides[0]:][:w*ch]
	switch {
	case len(e.comps) == 1:
		copy(to[0], src)
	case len(e.comps) == 4: // Pillow writes CMYK inverted
		c, m, y, k := to[0][:w], to[1][:w], to[2][:w], to[3][:w]
		for x := range c {
			p := src[4*x:][:4:4]
			c[x], m[x], y[x], k[x] = ^p[0], ^p[1], ^p[2], ^p[3]
		}
	default:
		if ch == 4 {
			e.pack = grow(e.pack, 3*w)
			for x := range w {
				p, q := e.pack[3*x:][:3:3], src[4*x:][:3:3]
				p[0], p[1], p[2] = q[0], q[1], q[2]
			}
			src = e.pack
		}
		kernel.RGBToYCC(to[0][:w], to[1][:w], to[2][:w], src)
	}
	for j := range e.comps {
		last := to[j][w-1]
		pad := to[j][w:]
		for x := range pad {
			pad[x] = last
		}
	}
}
