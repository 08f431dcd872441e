package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// A grid is a dense image as the geometry ops see it: planes of rows of pixels
// of so many bytes. HWC is one plane with whole pixels, CHW is a plane for each
// channel, so that one loop serves both layouts and every dtype.
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

// row is row y of plane p of the image's data.
func (g grid) row(data []byte, p, y int) []byte {
	n := g.width * g.pixel
	return data[(p*g.height+y)*n:][:n]
}

// strides are the elements from pixel to pixel and from channel to channel of a dense image.
func strides(d tensor.Desc) (pixel, channel int) {
	if d.Layout == tensor.CHW {
		return 1, d.Height() * d.Width()
	}
	return d.Channels(), 1
}

// fillPixel is one pixel of the fill values in the dtype of d: the bytes for
// plane p of its grid are the pixel bytes from p*pixel on. See wantFill.
func fillPixel(c *Context, d tensor.Desc, fill []float64) []byte {
	size := d.DType.Size()
	b := c.Scratch(size * d.Channels())
	for i := range d.Channels() {
		putNumber(b[i*size:][:size], d.DType, channelValue(fill, i))
	}
	return b
}

// wantFill refuses fill values that do not fit the image's channels or dtype.
func wantFill(d tensor.Desc, name string, fill []float64) error {
	for i, v := range fill {
		if !holds(d.DType, v) {
			return inputErr("%v cannot hold %s[%d] = %v", d.DType, name, i, v)
		}
	}
	return wantPerChannel(d, name, len(fill))
}

// intRange is the range of an integer dtype as float64s; the upper end is the
// largest float64 that fits (2^63 itself does not).
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

// holds reports whether a value can be an element: integers exactly, the
// floating-point types rounded, but not beyond their range.
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

// putNumber writes a value that the dtype holds.
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

// repeat fills b with copies of the pixel p, whose length divides b's.
func repeat(b, p []byte) {
	n := copy(b, p)
	for n > 0 && n < len(b) {
		n += copy(b[n:], b[:n])
	}
}

// A window is a view into an unbounded plane that holds an image at (0, 0): its
// top left corner is at (top, left), and what lies outside the image follows the mode.
type window struct {
	top, left int
	mode      PadMode
	fill      []byte // of fillPixel, for PadConstant
}

// apply copies the window of src to all of dst; the two differ in height and width only.
func (w window) apply(dst, src *tensor.Tensor) {
	in, out := gridOf(src.Desc), gridOf(dst.Desc)
	px := in.pixel
	// The columns of dst that lie in the image: from, to.
	from := min(max(-w.left, 0), out.width)
	to := max(min(in.width-w.left, out.width), from)
	for p := range out.planes {
		var fill []byte
		if w.mode == PadConstant {
			fill = w.fill[p*px:][:px]
		}
		for y := range out.height {
			line := out.row(dst.Data, p, y)
			sy, ok := w.mode.index(y+w.top, in.height)
			if !ok {
				repeat(line, fill)
				continue
			}
			row := in.row(src.Data, p, sy)
			if to > from {
				copy(line[from*px:to*px], row[(from+w.left)*px:])
			}
			if w.mode == PadConstant {
				repeat(line[:from*px], fill)
				repeat(line[to*px:], fill)
				continue
			}
			for x := 0; x < out.width; x++ {
				if x == from && to > from {
					x = to
					if x == out.width {
						break
					}
				}
				sx, _ := w.mode.index(x+w.left, in.width)
				copy(line[x*px:][:px], row[sx*px:])
			}
		}
	}
}
