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
	y0, y1 := covered(w.top, in.height, out.height)
	x0, x1 := covered(w.left, in.width, out.width)
	v := view{window: w, in: in, out: out, y0: y0, y1: y1, x0: x0, x1: x1}
	for p := range out.planes {
		if w.mode == PadConstant {
			v.constant(dst.Data, src.Data, p)
			continue
		}
		for y := range out.height {
			sy, _ := w.mode.index(y+w.top, in.height)
			v.mirrored(out.row(dst.Data, p, y), in.row(src.Data, p, sy))
		}
	}
}

// covered returns the part of a window of n pixels from start on that an axis
// of size pixels covers. It starts at n at most.
func covered(start, size, n int) (from, to int) {
	from = min(max(-start, 0), n)
	return from, max(min(size-start, n), from)
}

// view is a window of a plane of the grid in, which covers the rows y0 to y1
// and the columns x0 to x1 of the grid out.
type view struct {
	window
	in, out        grid
	y0, y1, x0, x1 int
}

// constant draws plane p. The border from the end of a row to the start of the
// next is contiguous, and the same for all rows.
func (v *view) constant(dst, src []byte, p int) {
	px := v.out.pixel
	fill := v.fill[p*px:][:px]
	line, step := v.out.width*px, v.in.width*px
	dst = dst[p*v.out.height*line:][:v.out.height*line]
	if v.x0 == v.x1 || v.y0 == v.y1 {
		kernel.RepeatPixel(dst, fill)
		return
	}
	n, rows, at := (v.x1-v.x0)*px, v.y1-v.y0, v.y0*line+v.x0*px
	src = src[(p*v.in.height+v.y0+v.top)*step+(v.x0+v.left)*px:]
	kernel.RepeatPixel(dst[:at], fill)
	switch border := line - n; {
	case border == 0 && n == step: // whole rows are contiguous, too
		copy(dst[at:], src[:rows*n])
	case border == 0 || rows == 1:
		kernel.CopyRows(kernel.Rows{Data: dst, At: at, Step: line}, kernel.Rows{Data: src, Step: step}, n, rows)
	default:
		first := dst[at+n:][:border]
		kernel.RepeatPixel(first, fill)
		const few = 16 // rows, which stay in the cache until their borders are drawn
		for y := 0; y < rows; y += few {
			m := min(few, rows-y)
			kernel.CopyRows(kernel.Rows{Data: dst, At: at + y*line, Step: line}, kernel.Rows{Data: src, At: y * step, Step: step}, n, m)
			for i := max(y, 1); i < min(y+m, rows-1); i++ {
				copy(dst[at+i*line+n:], first)
			}
		}
	}
	kernel.RepeatPixel(dst[at+(rows-1)*line+n:], fill)
}

// mirrored draws a line from a row of the image, in a mode other than constant.
func (v *view) mirrored(line, row []byte) {
	px := v.out.pixel
	// The columns x0 to x1, and as many on both sides as one reflection of the
	// row has.
	x0, x1 := v.x0, v.x1
	if x0 < x1 {
		copy(line[x0*px:x1*px], row[(x0+v.left)*px:])
		if v.mode == PadEdge {
			kernel.RepeatPixel(line[:x0*px], row[:px])
			kernel.RepeatPixel(line[x1*px:], row[len(row)-px:])
			return
		}
		skip := 0
		if v.mode == PadReflect {
			skip = 1
		}
		whole := v.in.width - skip
		n := min(x0, whole)
		kernel.FlipRow(line[(x0-n)*px:x0*px], row[skip*px:][:n*px], px)
		x0 -= n
		n = min(v.out.width-x1, whole)
		kernel.FlipRow(line[x1*px:][:n*px], row[(whole-n)*px:][:n*px], px)
		x1 += n
	}
	for x := 0; x < v.out.width; x++ {
		if x == x0 && x0 < x1 {
			x = x1
			if x == v.out.width {
				break
			}
		}
		sx, _ := v.mode.index(x+v.left, v.in.width)
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
