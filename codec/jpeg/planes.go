package jpeg

import "github.com/infer-prep/infer-prep/internal/kernel"

// ringRows is how many rows of MCUs of samples are kept: the one being turned
// into pixels and its neighbours, which upsampling over rows looks at.
const ringRows = 3

// plane is the window of a component's samples that is in memory.
type plane struct {
	ring     []byte
	stride   int
	ringH    int // rows in ring
	dataUnit int

	method     upsampling
	hExp, vExp int
	up         []byte // an upsampled row

	rows [][]int16 // coefficients of each row of MCUs, of files of several scans
	zero []int16   // a row of blocks of zeros
}

// planes is the state of the output side.
type planes struct {
	blockPtrs [maxMCU]*[64]int16
	blocks    []kernel.Block // waiting to become samples
	context   bool           // upsampling looks at the rows above and below
	rowsOut   int            // rows of pixels written

	ringStore [maxComps][]byte
	upStore   [maxComps][]byte
}

func (c *component) ringSize(unit int) (stride, rows int) {
	return c.padW * unit, ringRows * c.v * unit
}

// ringBytes is the memory of the ring, for the limits.
func (c *component) ringBytes() int64 {
	return int64(c.padW) * 8 * int64(ringRows*c.v*8)
}

// allocPlanes makes the rings, reusing memory.
func (d *Decoder) allocPlanes() {
	d.rowsOut = 0
	for i := range d.comps {
		c := &d.comps[i]
		c.dataUnit = d.unit()
		c.stride, c.ringH = c.ringSize(c.dataUnit)
		d.ringStore[i] = grow(d.ringStore[i], c.stride*c.ringH)
		c.ring = d.ringStore[i]
		// The upsamplers write whole groups of pixels.
		d.upStore[i] = grow(d.upStore[i], d.width+8)
		c.up = d.upStore[i]
	}
}

// grow gives a slice of n elements, in b's memory if it is large enough.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// row is the y'th row of samples, which must be in the window.
func (c *component) row(y int) []byte {
	i := y % c.ringH * c.stride
	return c.ring[i : i+c.stride]
}

// blockRow is the memory of the y'th row of blocks.
func (c *component) blockRow(y int) []byte {
	return c.ring[y*c.dataUnit%c.ringH*c.stride:]
}

// grayRow fills a row of MCUs with what zero coefficients give.
func (d *Decoder) grayRow(row int) {
	for i := range d.comps {
		c := &d.comps[i]
		b := c.blockRow(row * c.v)[:c.v*c.dataUnit*c.stride]
		for j := range b {
			b[j] = 128
		}
	}
}

// emit turns what row, the newest row of MCUs, completes into pixels. Rows whose
// neighbours below are not there yet wait, except after the last row.
func (d *Decoder) emit(row int) {
	end := min((row+1)*d.maxV*d.unit(), d.height)
	if d.context && row < d.iMCURows-1 {
		end -= d.maxV
	}
	for y := d.rowsOut; y < end; y++ {
		d.emitRow(y)
	}
	d.rowsOut = max(d.rowsOut, end)
}

// emitRow upsamples and colour-converts the y'th row of pixels.
func (d *Decoder) emitRow(y int) {
	if d.sink != nil && (y < d.region.Top || y >= d.region.Top+d.region.Height) {
		return
	}
	var s [4][]byte
	n := len(d.comps)
	for i := range n {
		if c := &d.comps[i]; c.needed {
			s[i] = c.upsampledRow(y, d.width)
		}
	}
	size := d.mode().Size()
	var out []byte
	if d.sink != nil {
		d.rowBuf = grow(d.rowBuf, d.width*size)
		out = d.rowBuf
		defer func() { d.sink.Rows(y, 1, out[d.region.Left*size:][:d.region.Width*size]) }()
	} else {
		out = d.dst.Pix[y*d.dst.Stride:][:d.width*size]
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
