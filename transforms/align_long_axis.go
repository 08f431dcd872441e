package transforms

import "github.com/infer-prep/infer-prep/tensor"

// AlignLongAxis turns an image by a quarter clockwise if its longer axis is
// not that of Height x Width: portrait images for a landscape target, and the other
// way about. A square image, and any image for a square target, is copied. It
// takes any dtype of fixed size and both layouts, and keeps them; no value is changed.
//
// Reference: align_long_axis of transformers 5.23.0 (Donut), which is rot90 of NumPy 2.4.6.
type AlignLongAxis struct {
	Height int `json:"height"` // of the target, 1 to 2^24
	Width  int `json:"width"`  // likewise
}

//msgp:tuple AlignLongAxis

func init() {
	Register(Info{
		Name: "align_long_axis", Version: 1, New: func() Op { return NewAlignLongAxis(2560, 1920) },
		Reference: "transformers 5.23.0 DonutImageProcessorPil.align_long_axis", Exactness: "0",
	})
}

// NewAlignLongAxis makes the op for a target of height x width.
func NewAlignLongAxis(height, width int) *AlignLongAxis {
	return &AlignLongAxis{Height: height, Width: width}
}

// Validate checks the sides.
func (o *AlignLongAxis) Validate() error { return checkSides(o.Height, o.Width) }

// turns says whether an image of h x w is turned.
func (o *AlignLongAxis) turns(h, w int) bool {
	return o.Width < o.Height && w > h || o.Width > o.Height && w < h
}

// Infer swaps height and width of an image that is turned. Where that depends on
// a size that is unknown, both are unknown.
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

// Apply turns or copies.
func (o *AlignLongAxis) Apply(c *Context, dst, src []*tensor.Tensor) error {
	if !o.turns(src[0].Height(), src[0].Width()) {
		return src[0].CopyTo(dst[0])
	}
	return (&Rotate90{Turns: -1}).Apply(c, dst, src)
}
