package jpeg

import "github.com/infer-prep/infer-prep/internal/kernel"

// ringRows is the number of rows of MCUs whose samples are kept: the row that
// becomes pixels and its neighbours, which vertical upsampling reads.
const ringRows = 3

// plane is the part of a component's samples that is in memory.
type plane struct {
	ring    []byte
	stride  int
	ringH   int // rows in ring
	samples int // side of a block: 8, less if reduced, 1 if lossless

	method     upsampling
	hExp, vExp int
	up         []byte // an upsampled row

	// For files with several scans:
	rows []stored    // of each row of MCUs
	zero [][64]int16 // a row of blocks of zeros
}

// planes is the state of the output.
type planes struct {
	context bool // upsampling reads the rows above and below
	samples int  // side in pixels of a block with the largest factors: 8, less if reduced, 1 if lossless
	rowsOut int  // rows of pixels written
	rowBuf  []byte

	// The destination of pixels without a sink. Its first row is row outTop of
	// the image.
	out               []byte
	outStride, outTop int

	// The MCUs that contribute to the region's pixels.
	firstMCU, lastMCU, firstRow, lastRow int

	ringStore [maxComps][]byte
	upStore   [maxComps][]byte
}

func (c *component) ringSize() (stride, rows int) {
	return c.padW * c.samples, ringRows * c.v * c.samples
}

// ringBytes returns the memory of the ring, for the limits.
func (c *component) ringBytes() int64 {
	stride, rows := c.ringSize()
	return int64(stride) * int64(rows)
}

// allocPlanes allocates the rings and reuses memory.
func (d *decoder) allocPlanes() {
	d.rowsOut = 0
	w := d.o.Scale.Of(d.width)
	for i := range d.comps {
		c := &d.comps[i]
		c.stride, c.ringH = c.ringSize()
		d.ringStore[i] = grow(d.ringStore[i], c.stride*c.ringH)
		c.ring = d.ringStore[i]
		// The upsamplers write whole groups of pixels.
		d.upStore[i] = grow(d.upStore[i], w+8)
		c.up = d.upStore[i]
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
func (c *component) row(y int) []byte {
	i := y % c.ringH * c.stride
	return c.ring[i : i+c.stride]
}

// blockRow returns the memory of row y of the blocks.
func (c *component) blockRow(y int) []byte {
	return c.ring[y*c.samples%c.ringH*c.stride:]
}

// grayRow fills a row of MCUs with the samples of zero coefficients.
func (d *decoder) grayRow(row int) {
	for i := range d.comps {
		c := &d.comps[i]
		b := c.blockRow(row * c.v)[:c.v*c.samples*c.stride]
		for j := range b {
			b[j] = 128
		}
	}
}

// aimRegion computes the rows and columns of MCUs that contribute to the
// region's pixels.
func (d *decoder) aimRegion() {
	// Upsampling reads one more sample on each side.
	mx, my := 0, 0
	for i := range d.comps {
		switch d.comps[i].method {
		case upH2V1:
			mx = 2
		case upH1V2:
			my = 2
		case upH2V2:
			mx, my = 2, 2
		}
	}
	r := &d.region
	w, h := d.maxH*d.samples, d.maxV*d.samples
	d.firstMCU, d.lastMCU = max(r.Left-mx, 0)/w, ceilDiv(r.Left+r.Width+mx, w)
	d.firstRow, d.lastRow = max(r.Top-my, 0)/h, ceilDiv(r.Top+r.Height+my, h)
}

// emit returns the pixels of the region that become complete with row, the
// newest row of MCUs. Its last row of pixels waits for the samples below it,
// except at the end of the image.
func (d *decoder) emit(row int) {
	from := max(d.rowsOut, d.region.Top)
	end := (row + 1) * d.maxV * d.samples
	to := min(end, d.region.Top+d.region.Height)
	if d.context && row < d.iMCURows-1 {
		to = min(to, end-1)
	}
	if to <= from {
		return
	}
	d.rowsOut = to
	d.give(from, to)
}

// give returns rows of the region's pixels.
func (d *decoder) give(from, to int) {
	line := d.region.Width * d.mode().Size()
	if d.sink == nil {
		for y := from; y < to; y++ {
			d.emitRow(d.out[(y-d.outTop)*d.outStride:][:line], y)
		}
		return
	}
	d.rowBuf = grow(d.rowBuf, (to-from)*line)
	for y := from; y < to; y++ {
		d.emitRow(d.rowBuf[(y-from)*line:][:line], y)
	}
	d.sink.Rows(from, to-from, d.rowBuf)
}

// emitRow upsamples and colour-converts the region's part of row y of the
// pixels.
func (d *decoder) emitRow(out []byte, y int) {
	var s [4][]byte
	n := len(d.comps)
	for i := range n {
		if c := &d.comps[i]; c.needed {
			s[i] = c.upsampledRow(y, d.region.Left, d.region.Width)
		}
	}
	switch {
	case n == 1 || n == 3 && d.toLuma && d.space == spaceYCC:
		copy(out, s[0])
	case n == 3 && d.toLuma:
		rgbToGray(out, s[0], s[1], s[2])
	case d.space == spaceYCC:
		kernel.YCCToRGB(out, s[0], s[1], s[2])
	case d.space == spaceRGB:
		interleave3(out, s[0], s[1], s[2])
	case d.space == spaceYCCK:
		kernel.YCCKToCMYK(out, s[0], s[1], s[2], s[3])
	default:
		invert4(out, s[0], s[1], s[2], s[3])
	}
}
