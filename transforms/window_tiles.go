package transforms

import (
	"github.com/infer-prep/infer-prep/tensor"
)

// WindowTiles cuts an image into square windows and scales each of them to
// Window x Window pixels. It takes a uint8 or float32 HWC image of any number
// of channels and keeps dtype, layout and channels. The windows stand in the
// output one below the other, in raster order. An image without windows has one
// of zeros there.
//
// An image with a side below 32 whose longer side is more than 4 times the
// shorter is first padded with zeros, at the bottom or right, to a square. If
// its longer side is above MaxSide, the windows follow from its sides times
// MaxSide/longer, truncated.
//
// Let l and s be the longer and the shorter side. If l is at most Size, there
// are windows of side s if l/s is above 1.5, else none. If l is larger, the
// windows have side min(s, Window) if l/s is above 4, else Window. The image is
// scaled so that each side of at least a window is a multiple of it: up if the
// rest is above a fifth of the window, else down. A shorter side stays, and so
// do windows along it.
//
// With Whole the output is the padded image, scaled to at most MaxSide.
//
// All arithmetic is float64. An image that MaxSide leaves without pixels is an
// ErrInput, and so are more than 4096 windows.
//
// Outputs: image; newlines, bool (windows): true for the last window of each
// row but the last row.
//
// Interpolation and Backend are those of Resize.
//
// Reference: transformers 5.23.0, Step3p7ImageProcessor.
type WindowTiles struct {
	Size          int           `json:"size"`          // in pixels, 1 to 2^24; default 728
	Window        int           `json:"window"`        // in pixels, 1 to 2^24; default 504
	MaxSide       int           `json:"max_side"`      // in pixels, 1 to 2^24; default 3024
	Whole         bool          `json:"whole"`         // scale the whole image; default false
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
}

//msgp:tuple WindowTiles
//sheet:window_tiles {"size": 40, "window": 32, "max_side": 90}

// NewWindowTiles returns the op for the windows: at most 3024 pixels along
// a side, bilinear, Pillow.
func NewWindowTiles(size, window int) *WindowTiles {
	return &WindowTiles{Size: size, Window: window, MaxSide: 3024, Interpolation: Bilinear, Backend: Pillow}
}

// Info describes the op.
func (*WindowTiles) Info() Info {
	return Info{
		Name: "window_tiles", Version: 1, New: func() Op { return NewWindowTiles(728, 504) },
		Out:       []string{"image", "newlines"},
		Reference: "transformers 5.23.0 Step3p7ImageProcessor; backends as resize", Exactness: "0",
	}
}

// Validate checks the sides, and that the backend supports the interpolation.
func (o *WindowTiles) Validate() error {
	if err := checkSide("size", o.Size); err != nil {
		return err
	}
	if err := checkSide("window", o.Window); err != nil {
		return err
	}
	if err := checkSide("max_side", o.MaxSide); err != nil {
		return err
	}
	return o.sampling().validate()
}

func (o *WindowTiles) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, true}
}

// windowing is what WindowTiles makes of an image.
type windowing struct {
	paddedH, paddedW int // of the image with padding
	wholeH, wholeW   int // of the whole image
	cropH, cropW     int // of the image before it is cut
	side             int // of a window; 0 for none
	rows, columns    int // of windows
}

// count returns the number of windows.
func (p *windowing) count() int { return p.rows * p.columns }

// These are the numbers of Step3p7ImageProcessor.
const (
	extremeSide, extremeRatio = 32, 4   // of an image that is padded to a square
	elongatedRatio            = 1.5     // above which a small image has windows
	windowRest                = 1.0 / 5 // of a window, above which a side grows
)

// plan computes the sizes for an image of h x w pixels.
func (o *WindowTiles) plan(h, w int) (p windowing, err error) {
	if h < 1 || w < 1 || max(h, w) > maxSide {
		return p, inputErr("an image of %d x %d (height x width), want sides of 1 to %d", h, w, maxSide)
	}
	given := [2]int{h, w}
	if float64(max(h, w))/float64(min(h, w)) > extremeRatio && min(h, w) < extremeSide {
		h, w = max(h, w), max(h, w)
	}
	p.paddedH, p.paddedW = h, w
	if long := max(h, w); long > o.MaxSide {
		s := float64(o.MaxSide) / float64(long)
		h, w = int(float64(float64(h)*s)), int(float64(float64(w)*s))
	}
	long, short := max(h, w), min(h, w)
	if short < 1 {
		return p, inputErr("an image of %d x %d (height x width) is %d x %d with sides of at most %d, want at least 1", given[0], given[1], h, w, o.MaxSide)
	}
	p.wholeH, p.wholeW = h, w
	ratio := float64(long) / float64(short)
	switch {
	case long <= o.Size && ratio > elongatedRatio:
		p.side = short
	case long <= o.Size:
		return p, nil
	case ratio > extremeRatio:
		p.side = min(short, o.Window)
	default:
		p.side = o.Window
	}
	snap := func(n int) int {
		if n < p.side {
			return n
		}
		k := n / p.side
		if float64(n%p.side) > float64(windowRest*float64(p.side)) {
			k++
		}
		return k * p.side
	}
	p.cropH, p.cropW = snap(h), snap(w)
	p.rows, p.columns = max(1, p.cropH/p.side), max(1, p.cropW/p.side)
	if int64(p.rows)*int64(p.columns) > maxMapped || int64(p.rows)*int64(p.columns)*int64(o.Window) > maxSide {
		return p, inputErr("an image of %d x %d (height x width) has %d x %d windows, want at most %d, with %d lines in all", given[0], given[1], p.rows, p.columns, maxMapped, maxSide)
	}
	return p, nil
}

// Infer sets the size.
func (o *WindowTiles) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := o.sampling().want(d); err != nil {
		return err
	}
	if d.Layout != tensor.HWC {
		return inputErr("%v, want HWC", d)
	}
	h, w, n := tensor.Unknown, o.Window, tensor.Unknown
	if o.Whole {
		w = tensor.Unknown
	}
	if d.Height() != tensor.Unknown && d.Width() != tensor.Unknown {
		p, err := o.plan(d.Height(), d.Width())
		if err != nil {
			return err
		}
		n = p.count()
		if h, w = max(n, 1)*o.Window, o.Window; o.Whole {
			h, w = p.wholeH, p.wholeW
		}
	}
	dst[0] = d.WithSize(h, w)
	dst[1] = tensor.Desc{DType: tensor.Bool, Shape: tensor.Dims(n)}
	return inferred(dst[0])
}

// Apply pads, scales and cuts.
func (o *WindowTiles) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	p, err := o.plan(s.Height(), s.Width())
	if err != nil {
		return err
	}
	for i := range dst[1].Data {
		row, column := i/p.columns, i%p.columns
		dst[1].Data[i] = boolByte(column == p.columns-1 && row < p.rows-1)
	}
	if s.Height() != p.paddedH || s.Width() != p.paddedW {
		t, err := c.Temp(s.WithSize(p.paddedH, p.paddedW))
		if err != nil {
			return err
		}
		if err := padTo(c, t, s, 0, 0, PadConstant, zeroFill); err != nil {
			return err
		}
		s = t
	}
	if o.Whole {
		return o.sampling().apply(c, dst[0], s)
	}
	if p.count() == 0 {
		clear(dst[0].Data)
		return nil
	}
	canvas, err := c.Temp(s.WithSize(p.cropH, p.cropW))
	if err != nil {
		return err
	}
	if err := o.sampling().apply(c, canvas, s); err != nil {
		return err
	}
	return o.cut(c, dst[0], canvas, p)
}

// cut scales the windows of an image.
func (o *WindowTiles) cut(c *Context, dst, canvas *tensor.Tensor, p windowing) error {
	from, err := c.Temp(canvas.WithSize(min(p.cropH, p.side), min(p.cropW, p.side)))
	if err != nil {
		return err
	}
	to, err := c.Temp(canvas.WithSize(o.Window, o.Window))
	if err != nil {
		return err
	}
	rest := dst.Data
	for i := range p.count() {
		at := window{top: i / p.columns * p.side, left: i % p.columns * p.side, mode: PadEdge} // nothing is outside
		at.apply(from, canvas)
		if err := o.sampling().apply(c, to, from); err != nil {
			return err
		}
		rest = rest[copy(rest, to.Data):]
	}
	return nil
}
