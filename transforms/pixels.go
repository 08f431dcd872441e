package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// grid is a dense image as the geometry ops see it: planes of rows of pixels.
// An HWC image is one plane with whole pixels, a CHW image has one plane per
// channel. One loop then serves both layouts and every dtype.
type grid struct {
	planes, height, width int
	pixel                 int // bytes
}

func gridOf(d tensor.Desc) grid {
	g := grid{planes: 1, height: d.Height(), width: d.Width(), pixel: d.DType.Size()}
	if d.Layout == tensor.CHW {
		g.planes = d.Channels()
	} else {
		g.pixel *= d.Channels()
	}
	return g
}

// row returns row y of plane p.
func (g grid) row(data []byte, p, y int) []byte {
	n := g.width * g.pixel
	return data[(p*g.height+y)*n:][:n]
}

// strides returns the distances, in elements, between pixels and between
// channels of a dense image.
func strides(d tensor.Desc) (pixel, channel int) {
	if d.Layout == tensor.CHW {
		return 1, d.Height() * d.Width()
	}
	return d.Channels(), 1
}

// fillPixel returns one pixel of the fill values in the dtype of d. The bytes
// for plane p of its grid start at p*pixel. See wantFill.
func fillPixel(c *Context, d tensor.Desc, fill []float64) []byte {
	size := d.DType.Size()
	b := c.Scratch(size * d.Channels())
	for i := range d.Channels() {
		putNumber(b[i*size:][:size], d.DType, channelValue(fill, i))
	}
	return b
}

// wantFill rejects fill values that do not match the image's channels or dtype.
func wantFill(d tensor.Desc, name string, fill []float64) error {
	for i, v := range fill {
		if !holds(d.DType, v) {
			return inputErr("%v cannot hold %s[%d] = %v", d.DType, name, i, v)
		}
	}
	return wantPerChannel(d, name, len(fill))
}

// intRange returns the range of an integer dtype as float64s. The upper bound
// is the largest float64 in the range, so it is less than 2^63 for int64.
func intRange(d tensor.DType) (lo, hi float64, ok bool) {
	switch d {
	case tensor.Bool:
		return 0, 1, true
	case tensor.Uint8:
		return 0, math.MaxUint8, true
	case tensor.Int8:
		return math.MinInt8, math.MaxInt8, true
	case tensor.Uint16:
		return 0, math.MaxUint16, true
	case tensor.Int16:
		return math.MinInt16, math.MaxInt16, true
	case tensor.Int32:
		return math.MinInt32, math.MaxInt32, true
	case tensor.Int64:
		return math.MinInt64, math.MaxInt64 - 1023, true
	}
	return 0, 0, false
}

// The largest finite values of the half-precision types.
const (
	maxFloat16  = 65504
	maxBFloat16 = 0x1.FEp127
)

// holds reports whether an element can hold v: exactly for integer dtypes,
// rounded but within the range for floating-point dtypes.
func holds(d tensor.DType, v float64) bool {
	if lo, hi, ok := intRange(d); ok {
		return v >= lo && v <= hi && v == math.Trunc(v)
	}
	switch d {
	case tensor.Float16:
		return math.Abs(v) <= maxFloat16
	case tensor.BFloat16:
		return math.Abs(v) <= maxBFloat16
	case tensor.Float32:
		return math.Abs(v) <= math.MaxFloat32
	}
	return true
}

// putNumber writes a value that holds accepts.
func putNumber(b []byte, d tensor.DType, v float64) {
	switch d {
	case tensor.Uint8, tensor.Bool:
		b[0] = uint8(v)
	case tensor.Int8:
		b[0] = uint8(int8(v))
	case tensor.Uint16:
		tensor.Cast[uint16](b)[0] = uint16(v)
	case tensor.Int16:
		tensor.Cast[int16](b)[0] = int16(v)
	case tensor.Int32:
		tensor.Cast[int32](b)[0] = int32(v)
	case tensor.Int64:
		tensor.Cast[int64](b)[0] = int64(v)
	case tensor.Float16:
		tensor.Cast[uint16](b)[0] = tensor.Float16FromFloat64(v)
	case tensor.BFloat16:
		tensor.Cast[uint16](b)[0] = tensor.BFloat16FromFloat32(float32(v))
	case tensor.Float32:
		tensor.Cast[float32](b)[0] = float32(v)
	case tensor.Float64:
		tensor.Cast[float64](b)[0] = v
	}
}

// premultiplied calls f for src with its colours multiplied by alpha, the last
// of the channels, as Pillow does before it mixes pixels of LA and RGBA. Then
// it divides the colours of dst by alpha. src is dense and has two or four
// channels.
func premultiplied(c *Context, dst, src *tensor.Tensor, f func(src *tensor.Tensor)) error {
	pre, err := c.Temp(src.Desc)
	if err != nil {
		return err
	}
	n := src.Channels()
	if src.Layout == tensor.HWC {
		kernel.Premultiply(pre.Data, src.Data, n)
		f(pre)
		kernel.Unpremultiply(dst.Data, dst.Data, n)
		return nil
	}
	kernel.PremultiplyPlanes(pre.Data, src.Data, n)
	f(pre)
	kernel.UnpremultiplyPlanes(dst.Data, dst.Data, n)
	return nil
}

// colorPart is a run of pixels of up to four channels, one slice for each.
type colorPart [4][]uint8

// partLen is the largest number of pixels of a colorPart. Its planes fit the
// fastest cache.
const partLen = 1024

// eachPart calls f for every part of the dense uint8 image src of one, three or
// four channels, in order. at is the number of pixels before the part. f sets
// out, the same part of dst, unless dst is nil. dst may be src.
func eachPart(c *Context, dst, src *tensor.Tensor, f func(at int, out, in colorPart)) {
	n := src.Height() * src.Width()
	planes := func(t *tensor.Tensor) (buf []uint8) {
		if t != nil && t.Layout == tensor.HWC && t.Channels() > 1 {
			buf = c.Scratch(t.Channels() * partLen)
		}
		return buf
	}
	from, to := planes(src), planes(dst)
	for at := 0; at < n; at += partLen {
		k := min(partLen, n-at)
		part := func(t *tensor.Tensor, buf []uint8) (p colorPart) {
			for ch := range t.Channels() {
				if buf != nil {
					p[ch] = buf[ch*partLen:][:k]
				} else {
					p[ch] = t.Data[ch*n+at:][:k]
				}
			}
			return p
		}
		var out colorPart
		if dst != nil {
			out = part(dst, to)
		}
		if ch := src.Channels(); from != nil {
			kernel.Deinterleave(from, partLen, src.Data[ch*at:][:ch*k], ch)
		}
		f(at, out, part(src, from))
		if to != nil {
			ch := dst.Channels()
			kernel.Interleave(dst.Data[ch*at:][:ch*k], to, partLen, ch)
		}
	}
}

// lookupChannels looks up the bytes of the dense image src in a table of 256
// entries per channel.
func lookupChannels(dst, src *tensor.Tensor, tables []uint8) {
	ch := src.Channels()
	if src.Layout == tensor.HWC {
		kernel.LookupHWC(dst.Data, src.Data[:len(dst.Data)], ch, tables)
		return
	}
	plane := src.Height() * src.Width()
	for i := range ch {
		kernel.LookupHWC(dst.Data[i*plane:][:plane], src.Data[i*plane:][:plane], 1, tables[i*256:][:256])
	}
}

// window is a view into an unbounded plane that holds an image at (0, 0). Its
// top left corner is at (top, left). The mode defines the pixels outside the
// image.
type window struct {
	top, left int
	mode      PadMode
	fill      []byte // from fillPixel, for PadConstant
}

// apply copies the window of src to dst, which differs in height and width
// only.
func (w window) apply(dst, src *tensor.Tensor) {
	in, out := gridOf(src.Desc), gridOf(dst.Desc)
	px := in.pixel
	// The image covers the rows y0..y1 and the columns x0..x1 of dst.
	y0, y1 := covered(w.top, in.height, out.height)
	x0, x1 := covered(w.left, in.width, out.width)
	step, line, n := in.width*px, out.width*px, (x1-x0)*px
	for p := range out.planes {
		if w.mode != PadConstant {
			for y := range out.height {
				sy, _ := w.mode.index(y+w.top, in.height)
				w.mirrored(out.row(dst.Data, p, y), in.row(src.Data, p, sy), &in, &out, x0, x1)
			}
			continue
		}
		d := dst.Data[p*out.height*line:][:out.height*line]
		if n > 0 {
			from := kernel.Rows{Data: src.Data, At: (p*in.height+y0+w.top)*step + (x0+w.left)*px, Step: step}
			kernel.CopyRows(kernel.Rows{Data: d, At: y0*line + x0*px, Step: line}, from, n, y1-y0)
		}
		// The border from the end of a row to the start of the next is
		// contiguous, and equal to the border before.
		at, rows, n := 0, y1-y0, n
		if n == line {
			n, rows = n*rows, 1
		}
		for y := range rows + 1 {
			to := len(d)
			if y < rows {
				to = (y0+y)*line + x0*px
			}
			if y > 1 && y < rows {
				copy(d[at:to], d[at-line:])
			} else {
				kernel.RepeatPixel(d[at:to], w.fill[p*px:][:px])
			}
			at = to + n
		}
	}
}

// covered returns the part of a window of n pixels from start on that an axis
// of size pixels covers.
func covered(start, size, n int) (from, to int) {
	from = min(max(-start, 0), n)
	return from, max(min(size-start, n), from)
}

// mirrored draws a line of the grid out from a row of the image in, which
// covers the columns x0..x1, in a mode other than constant.
func (w window) mirrored(line, row []byte, in, out *grid, x0, x1 int) {
	px := in.pixel
	if x0 < x1 {
		copy(line[x0*px:x1*px], row[(x0+w.left)*px:])
		if w.mode != PadEdge { // one reflection on both sides
			most := in.width
			if w.mode == PadReflect {
				most--
			}
			n := min(x0, most)
			kernel.FlipRow(line[(x0-n)*px:x0*px], row[(in.width-most)*px:][:n*px], px)
			x0 -= n
			n = min(out.width-x1, most)
			kernel.FlipRow(line[x1*px:][:n*px], row[(most-n)*px:most*px], px)
			x1 += n
		}
	}
	for x := 0; x < out.width; x++ {
		if x == x0 && x0 < x1 {
			x = x1 - 1
			continue
		}
		sx, _ := w.mode.index(x+w.left, in.width)
		copy(line[x*px:][:px], row[sx*px:])
	}
}

// cut writes the window of src as an image of description d to the start of
// dst, and returns the rest of dst.
func (w window) cut(dst []byte, d tensor.Desc, src *tensor.Tensor) []byte {
	n := int(d.Size())
	w.apply(&tensor.Tensor{Desc: d, Data: dst[:n]}, src)
	return dst[n:]
}
