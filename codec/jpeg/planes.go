package jpeg

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// ringRows is the number of rows of MCUs whose samples are kept: the row that
// becomes pixels and its neighbours, which vertical upsampling reads.
const ringRows = 3

// plane is the part of a component's samples that is in memory.
type plane struct {
	comp    *component
	samples int // side of a block: 8, less if reduced, 1 if lossless
	dw, dh  int // size of the whole plane in samples, without padding

	ring   []byte
	stride int
	ringH  int // rows in ring

	method     upsampling
	hExp, vExp int
	up         []byte // an upsampled row
}

// planes converts coefficients to samples and samples to the pixels of the
// requested region.
type planes struct {
	head *header
	comp [maxComps]plane

	width, height int  // of the image, after scaling
	samples       int  // side in pixels of a block with the largest factors: 8, less if reduced, 1 if lossless
	context       bool // upsampling reads the rows above and below
	region        codec.Region
	rowsOut       int // rows of pixels written

	sink   codec.RowSink // receives the rows of DecodeRows, else nil
	rowBuf []byte
	// The destination of pixels without a sink. Its first row is row outTop of
	// the image.
	out               []byte
	outStride, outTop int

	// The MCUs that contribute to the region's pixels.
	firstMCU, lastMCU, firstRow, lastRow int

	ringStore [maxComps][]byte
	upStore   [maxComps][]byte
	last      []uint8 // of a row of stored blocks
}

// setup computes the sizes of the planes at a scale.
func (ps *planes) setup(scale codec.Scale) {
	h := ps.head
	unit := h.unit()
	ps.width, ps.height = scale.Of(h.width), scale.Of(h.height)
	ps.samples = unit >> scale
	for i := range h.comps {
		p, c := &ps.comp[i], &h.comps[i]
		p.comp = c
		// Subsampled components are reduced less, as far as the factors allow,
		// instead of being upsampled.
		p.samples = ps.samples
		for p.samples < unit && h.maxH*ps.samples%(c.h*p.samples*2) == 0 && h.maxV*ps.samples%(c.v*p.samples*2) == 0 {
			p.samples *= 2
		}
		p.dw = ceilDiv(h.width*c.h*p.samples, h.maxH*unit)
		p.dh = ceilDiv(h.height*c.v*p.samples, h.maxV*unit)
	}
	ps.chooseUpsampling()
}

func (p *plane) ringSize() (stride, rows int) {
	return p.comp.padW * p.samples, ringRows * p.comp.v * p.samples
}

// ringBytes returns the memory of the ring, for the limits.
func (p *plane) ringBytes() int64 {
	stride, rows := p.ringSize()
	return int64(stride) * int64(rows)
}

// alloc allocates the rings and reuses memory.
func (ps *planes) alloc() {
	ps.rowsOut = 0
	for i := range ps.head.comps {
		p := &ps.comp[i]
		p.stride, p.ringH = p.ringSize()
		ps.ringStore[i] = grow(ps.ringStore[i], p.stride*p.ringH)
		p.ring = ps.ringStore[i]
		// The upsamplers write whole groups of pixels.
		ps.upStore[i] = grow(ps.upStore[i], ps.width+8)
		p.up = ps.upStore[i]
	}
}

// grow returns a slice of n elements. It uses b's memory if it is large enough.
// Inlined it is 2 KB of the small browser package.
//
//go:noinline
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// row returns row y of the samples, which must be in the ring.
func (p *plane) row(y int) []byte {
	i := y % p.ringH * p.stride
	return p.ring[i : i+p.stride]
}

// blockRow returns the memory of row y of the blocks.
func (p *plane) blockRow(y int) []byte {
	return p.ring[y*p.samples%p.ringH*p.stride:]
}

// gray fills rows of blocks, the first of which is row y, with the samples of
// zero coefficients.
func (p *plane) gray(y, rows int) {
	b := p.blockRow(y)[:rows*p.samples*p.stride]
	for i := range b {
		b[i] = 128
	}
}

// transform computes the samples of blocks, the first of which is block at of
// row y.
func (p *plane) transform(y, at int, blocks [][64]int16, last []uint8) {
	dst := p.blockRow(y)[at*p.samples:]
	switch p.samples {
	case 8:
		kernel.IDCTRow(dst, p.stride, blocks, &p.comp.quant, last)
	case 4:
		kernel.IDCTRow4(dst, p.stride, blocks, &p.comp.quant, last)
	case 2:
		kernel.IDCTRow2(dst, p.stride, blocks, &p.comp.quant, last)
	default:
		kernel.IDCTRow1(dst, p.stride, blocks, &p.comp.quant, last)
	}
}

// grayRow fills a row of MCUs with the samples of zero coefficients.
func (ps *planes) grayRow(row int) {
	for i := range ps.head.comps {
		p := &ps.comp[i]
		p.gray(row*p.comp.v, p.comp.v)
	}
}

// transform computes the samples of a segment of targets: n MCUs from column x
// on of row y of row's MCUs. It drops blocks outside the image, and clears all.
func (ps *planes) transform(to *[maxMCU]target, row, y, x, n int) {
	b := 0
	for _, c := range ps.head.scan[:ps.head.nScan] {
		for by := range c.mcuH {
			blocks, last := to[b].blocks[:n*c.mcuW], to[b].last
			b += c.mcuW
			at := x * c.mcuW
			k := min(n*c.mcuW, c.wBlocks-at)
			switch p := &ps.comp[c.index]; {
			case !c.needed || row == ps.head.iMCURows-1 && y+by >= c.lastRowH:
			case kernel.Pairs() && ps.head.places == &kernel.PairedPlaces:
				dst := p.blockRow(row*c.v + y + by)[at*8:]
				kernel.IDCTRowPaired(dst, p.stride, blocks[:k], &c.quant, last[:k])
				blocks = blocks[k:]
			default:
				p.transform(row*c.v+y+by, at, blocks[:k], last[:k])
			}
			clear(blocks)
		}
	}
}

// stored computes the samples of a row of MCUs of stored coefficients.
func (ps *planes) stored(s *coefStore, row int, smooth bool) {
	for i := range ps.head.comps {
		p, c := &ps.comp[i], &ps.head.comps[i]
		if !c.needed {
			continue
		}
		n := c.v
		if row == ps.head.iMCURows-1 {
			if n = c.hBlocks % c.v; n == 0 {
				n = c.v
			}
		}
		if smooth {
			p.smooth(s, row, n)
			continue
		}
		r := &s.rows[i][row]
		if r.blocks == nil {
			p.gray(row*c.v, n)
			continue
		}
		// The blocks that contribute to the region.
		from, to := min(ps.firstMCU*c.h, c.wBlocks), min(ps.lastMCU*c.h, c.wBlocks)
		ps.last = grow(ps.last, to-from)
		for y := range n {
			a, b := y*c.padW+from, y*c.padW+to
			r.lastCoefs(ps.last, a)
			p.transform(row*c.v+y, from, r.blocks[a:b], ps.last)
		}
	}
}

// aim computes the rows and columns of MCUs that contribute to the
// region's pixels.
func (ps *planes) aim() {
	// Upsampling reads one more sample on each side.
	mx, my := 0, 0
	for i := range ps.head.comps {
		switch ps.comp[i].method {
		case upH2V1:
			mx = 2
		case upH1V2:
			my = 2
		case upH2V2:
			mx, my = 2, 2
		}
	}
	r := &ps.region
	w, h := ps.head.maxH*ps.samples, ps.head.maxV*ps.samples
	ps.firstMCU, ps.lastMCU = max(r.Left-mx, 0)/w, ceilDiv(r.Left+r.Width+mx, w)
	ps.firstRow, ps.lastRow = max(r.Top-my, 0)/h, ceilDiv(r.Top+r.Height+my, h)
}

// emit returns the pixels of the region that become complete with row, the
// newest row of MCUs. Its last row of pixels waits for the samples below it,
// except at the end of the image.
func (ps *planes) emit(row int) {
	from := max(ps.rowsOut, ps.region.Top)
	end := (row + 1) * ps.head.maxV * ps.samples
	to := min(end, ps.region.Top+ps.region.Height)
	if ps.context && row < ps.head.iMCURows-1 {
		to = min(to, end-1)
	}
	if to <= from {
		return
	}
	ps.rowsOut = to
	ps.give(from, to)
}

// give returns rows of the region's pixels.
func (ps *planes) give(from, to int) {
	line := ps.region.Width * ps.head.mode().Size()
	if ps.sink == nil {
		for y := from; y < to; y++ {
			ps.emitRow(ps.out[(y-ps.outTop)*ps.outStride:][:line], y)
		}
		return
	}
	ps.rowBuf = grow(ps.rowBuf, (to-from)*line)
	for y := from; y < to; y++ {
		ps.emitRow(ps.rowBuf[(y-from)*line:][:line], y)
	}
	ps.sink.Rows(from, to-from, ps.rowBuf)
}

// emitRow upsamples and colour-converts the region's part of row y of the
// pixels.
func (ps *planes) emitRow(out []byte, y int) {
	var s [4][]byte
	n := len(ps.head.comps)
	for i := range n {
		if ps.head.comps[i].needed {
			s[i] = ps.comp[i].upsampledRow(y, ps.region.Left, ps.region.Width)
		}
	}
	switch {
	case n == 1 || n == 3 && ps.head.toLuma && ps.head.space == spaceYCC:
		copy(out, s[0])
	case n == 3 && ps.head.toLuma:
		rgbToGray(out, s[0], s[1], s[2])
	case ps.head.space == spaceYCC:
		kernel.YCCToRGB(out, s[0], s[1], s[2])
	case ps.head.space == spaceRGB:
		interleave3(out, s[0], s[1], s[2])
	case ps.head.space == spaceYCCK:
		kernel.YCCKToCMYK(out, s[0], s[1], s[2], s[3])
	default:
		invert4(out, s[0], s[1], s[2], s[3])
	}
}
