package transforms

import "github.com/infer-prep/infer-prep/tensor"

// AlignLongAxis rotates an image clockwise by 90 degrees if its longer axis is
// not that of Height x Width. It turns portrait images for a landscape target,
// and landscape images for a portrait target. A square image is copied, and so
// is any image for a square target. It takes any dtype of fixed size, HWC or
// CHW, and keeps both. No value changes.
//
// Reference: align_long_axis of transformers 5.23.0 (Donut), which is rot90 of
// NumPy 2.4.6.
type AlignLongAxis struct {
	Height int `json:"height"` // target height in pixels, 1 to 2^24
	Width  int `json:"width"`  // target width in pixels, 1 to 2^24
}

//msgp:tuple AlignLongAxis
//sheet:align_long_axis {"height": 112, "width": 84}

// NewAlignLongAxis returns the op for a target of height x width.
func NewAlignLongAxis(height, width int) *AlignLongAxis {
	return &AlignLongAxis{Height: height, Width: width}
}

// Info describes the op.
func (*AlignLongAxis) Info() Info {
	return Info{
		Name: "align_long_axis", Version: 1, New: func() Op { return NewAlignLongAxis(2560, 1920) },
		Reference: "transformers 5.23.0 DonutImageProcessorPil.align_long_axis", Exactness: "0",
	}
}

// Validate checks the sides.
func (o *AlignLongAxis) Validate() error { return checkSides(o.Height, o.Width) }

// turns reports whether an image of h x w is rotated.
func (o *AlignLongAxis) turns(h, w int) bool {
	return o.Width < o.Height && w > h || o.Width > o.Height && w < h
}

// Infer swaps the height and the width of an image that is rotated. If the
// rotation depends on an unknown size, both sides are unknown.
func (o *AlignLongAxis) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	switch {
	case o.Height == o.Width:
	case h == tensor.Unknown || w == tensor.Unknown:
		h, w = tensor.Unknown, tensor.Unknown
	case o.turns(h, w):
		h, w = w, h
	}
	dst[0] = in[0].WithSize(h, w)
	return nil
}

// Apply rotates or copies.
func (o *AlignLongAxis) Apply(c *Context, dst, src []*tensor.Tensor) error {
	if !o.turns(src[0].Height(), src[0].Width()) {
		return src[0].CopyTo(dst[0])
	}
	return (&Rotate90{Turns: -1}).Apply(c, dst, src)
}

// Move rotates a column, as Rotate90 does.
func (o *AlignLongAxis) Move(d *Draw, r Role, from, to tensor.Desc) error {
	if !o.turns(from.Height(), from.Width()) {
		return nil
	}
	c := NewOp[Rotate90](d)
	c.Turns = -1
	return c.Move(d, r, from, to)
}
