package transforms

import (
	"github.com/infer-prep/infer-prep/tensor"
)

// ResizeLibyuv scales a uint8 HWC image of any number of channels to Height x
// Width as libyuv's ARGBScale with kFilterBilinear does. The TFLite Task
// Library and Android's YUV pipelines resize this way. It keeps dtype, layout
// and channels. An image that already has the size is copied.
//
// It does not antialias. Positions are 16-bit fixed point. An axis that shrinks
// or keeps its size is sampled at pixel centres. An axis that grows is sampled
// from the centre of the first pixel to the centre of the last. Weights have 8
// bits between rows and 7 bits between columns. The column weights sum to 127,
// so a flat image may become darker by 1. If the height grows, columns are
// scaled first, else rows. As in libyuv, some sizes have their own rule: even
// whole factors average the central 2 x 2 pixels, and odd whole factors take
// the central pixel.
//
// Reference: tflite-support 0.4.4's Task Library, vision, with RGB images and
// its libyuv on x86-64. Sides are at most 32767 pixels, the limit of this form
// of libyuv.
type ResizeLibyuv struct {
	Height int `json:"height"` // output height in pixels, 1 to 32767
	Width  int `json:"width"`  // output width in pixels, 1 to 32767
}

//msgp:tuple ResizeLibyuv

// maxLibyuvSide is the largest side whose 16-bit fixed point fits an int32.
const maxLibyuvSide = 1<<15 - 1

// NewResizeLibyuv returns the op that scales to height x width.
func NewResizeLibyuv(height, width int) *ResizeLibyuv { return &ResizeLibyuv{height, width} }

// Info describes the op.
func (*ResizeLibyuv) Info() Info {
	return Info{
		Name: "resize_libyuv", Version: 1, New: func() Op { return NewResizeLibyuv(224, 224) },
		Reference: "tflite-support 0.4.4 Task Library (libyuv ARGBScale, kFilterBilinear)", Exactness: "0",
	}
}

// Validate checks the size.
func (o *ResizeLibyuv) Validate() error {
	for i, n := range []int{o.Height, o.Width} {
		if n < 1 || n > maxLibyuvSide {
			return paramErr("%s is %d, want 1 to %d", []string{"height", "width"}[i], n, maxLibyuvSide)
		}
	}
	return nil
}

// Infer sets the output size.
func (o *ResizeLibyuv) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	if in[0].Layout != tensor.HWC {
		return inputErr("%v, want HWC", in[0])
	}
	for _, n := range []int{in[0].Height(), in[0].Width()} {
		if n == 0 || n > maxLibyuvSide {
			return inputErr("%v, want sides of 1 to %d", in[0], maxLibyuvSide)
		}
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// yuvAxis describes the samples of an axis: the first at start, the others step
// apart, in 1/65536 of a pixel.
type yuvAxis struct{ in, out, start, step int }

// yuvSlope is libyuv's ScaleSlope for bilinear filters.
func yuvSlope(in, out int) yuvAxis {
	a := yuvAxis{in: in, out: out}
	switch {
	case out <= in:
		a.step = in << 16 / out
		a.start = a.step>>1 - 1<<15
	case in > 1 && out > 1:
		a.step = (in<<16 - 0x00010001) / (out - 1)
	}
	return a
}

// whole reports whether the step is a whole number of pixels.
func (a yuvAxis) whole() bool { return a.step&0xffff == 0 }

// yuvFilter names the axes that are filtered.
type yuvFilter uint8

const (
	yuvNone yuvFilter = iota
	yuvLinear
	yuvBilinear
)

// yuvReduce is libyuv's ScaleFilterReduce for the bilinear filter.
func yuvReduce(h, w, oh, ow int) yuvFilter {
	f := yuvBilinear
	if h == 1 || oh == h || oh*3 == h {
		f = yuvLinear
	}
	if w == 1 {
		f = yuvNone
	}
	if f == yuvLinear && (ow == w || ow*3 == w) {
		f = yuvNone
	}
	return f
}

// Apply scales.
func (o *ResizeLibyuv) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	h, w, ch := s.Height(), s.Width(), s.Channels()
	in, out := s.Data[:h*w*ch], dst[0].Data[:o.Height*o.Width*ch]
	if h == o.Height && w == o.Width {
		copy(out, in)
		return nil
	}
	y, x := yuvSlope(h, o.Height), yuvSlope(w, o.Width)
	filter := yuvReduce(h, w, o.Height, o.Width)
	if y.whole() && x.whole() {
		switch oddY, oddX := y.step&0x10000 != 0, x.step&0x10000 != 0; {
		case x.step == 0 || y.step == 0:
			filter = yuvNone
		case !oddX && !oddY:
			yuvEven(out, in, y, x, ch) // never a single pixel: the filter is whole
			return nil
		case oddX && oddY:
			filter = yuvNone
		}
	}
	line, row := o.Width*ch, w*ch
	switch {
	case x.step == 1<<16 && x.start&0xffff == 0:
		yuvVertical(out, in[x.start>>16*ch:], y, row, line, filter)
	case filter == yuvNone:
		for i := range o.Height {
			from := in[(y.start+i*y.step)>>16*row:][:row]
			for j := range o.Width {
				copy(out[i*line+j*ch:][:ch], from[(x.start+j*x.step)>>16*ch:])
			}
		}
	case y.step < 1<<16:
		yuvUp(c, out, in, y, x, ch, filter)
	default:
		yuvDown(c, out, in, y, x, ch, filter)
	}
	return nil
}

// yuvEven scales down by even whole factors. Groups of four pixels are rounded
// twice, as in the x86 vector code; the rest of a row is rounded once.
func yuvEven(out, in []byte, y, x yuvAxis, ch int) {
	row := x.in * ch
	mean := func(a, b byte) int { return (int(a) + int(b) + 1) >> 1 }
	for i := range y.out {
		at := (y.start + i*y.step) >> 16 * row
		for j := range x.out {
			p := in[at+(x.start+j*x.step)>>16*ch:]
			q := out[(i*x.out+j)*ch:][:ch]
			for k := range q {
				if j < x.out&^3 {
					q[k] = byte((mean(p[k], p[k+row]) + mean(p[k+ch], p[k+row+ch]) + 1) >> 1)
				} else {
					q[k] = byte((int(p[k]) + int(p[k+ch]) + int(p[k+row]) + int(p[k+row+ch]) + 2) >> 2)
				}
			}
		}
	}
}

// yuvRow interpolates between two rows. f is the position from a to b, in
// 1/256.
func yuvRow(out, a, b []byte, f int) {
	switch f {
	case 0:
		copy(out, a)
	case 128:
		for i := range out {
			out[i] = byte((int(a[i]) + int(b[i]) + 1) >> 1)
		}
	default:
		for i := range out {
			out[i] = byte((int(a[i])*(256-f) + int(b[i])*f + 128) >> 8)
		}
	}
}

// yuvCols scales a row.
func yuvCols(out, in []byte, x yuvAxis, ch int) {
	for j := range x.out {
		at := x.start + j*x.step
		f := at >> 9 & 0x7f
		i := at >> 16 * ch
		next := min(i+ch, len(in)-ch) // the weight is 0 if this is not the next pixel
		for k := range ch {
			out[j*ch+k] = byte((int(in[i+k])*(0x7f^f) + int(in[next+k])*f) >> 7)
		}
	}
}

// yuvVertical scales only the height.
func yuvVertical(out, in []byte, y yuvAxis, row, line int, f yuvFilter) {
	last := 0
	if y.in > 1 {
		last = (y.in-1)<<16 - 1
	}
	at := y.start
	for i := range y.out {
		at = min(at, last)
		frac := 0
		if f != yuvNone {
			frac = at >> 8 & 255
		}
		a := in[at>>16*row:]
		b := a
		if frac != 0 {
			b = a[row:]
		}
		yuvRow(out[i*line:][:line], a, b, frac)
		at += y.step
	}
}

// yuvDown scales rows first, for a height that does not grow.
func yuvDown(c *Context, out, in []byte, y, x yuvAxis, ch int, f yuvFilter) {
	row, line := x.in*ch, x.out*ch
	mid := c.Scratch(row)
	last := (y.in - 1) << 16
	at := min(y.start, last)
	for i := range y.out {
		a := in[at>>16*row:]
		from := a[:row]
		if frac := at >> 8 & 255; f == yuvBilinear && frac != 0 {
			yuvRow(mid, a, a[row:], frac)
			from = mid
		}
		yuvCols(out[i*line:][:line], from, x, ch)
		at = min(at+y.step, last)
	}
}

// yuvUp scales columns first, for a height that grows. It keeps two scaled
// rows.
func yuvUp(c *Context, out, in []byte, y, x yuvAxis, ch int, f yuvFilter) {
	row, line := x.in*ch, x.out*ch
	rows := c.Scratch(2 * line)
	a, b := rows[:line], rows[line:]
	have := [2]int{-1, -1} // the rows that a and b hold
	last := (y.in - 1) << 16
	at := y.start
	for i := range y.out {
		at = min(at, last)
		n := at >> 16
		next := min(n+1, y.in-1)
		if have[1] == n {
			a, b = b, a
			have[0], have[1] = have[1], have[0]
		}
		for k, want := range []int{n, next} {
			if have[k] != want {
				yuvCols([2][]byte{a, b}[k], in[want*row:][:row], x, ch)
				have[k] = want
			}
		}
		frac := 0
		if f == yuvBilinear {
			frac = at >> 8 & 255
		}
		yuvRow(out[i*line:][:line], a, b, frac)
		at += y.step
	}
}
