package transforms

import "github.com/infer-prep/infer-prep/tensor"

// KeepRows returns all rows of a tensor if the longer side of an image is above
// Side, else none. Models that cut only large images into tiles take it. A row
// is an element of the first axis. The tensor has no layout and any dtype of
// fixed size, which is kept. No value changes.
//
// Reference: transformers 5.23.0, pixel_values_local of DeepseekOcr2, which is
// absent where no row is kept; NumPy 2.4.6 slicing.
type KeepRows struct {
	Side int `json:"side"` // in pixels, 1 to 2^24
}

//msgp:tuple KeepRows
//sheet:keep_rows {"side": 64}

// NewKeepRows returns the op.
func NewKeepRows(side int) *KeepRows { return &KeepRows{Side: side} }

// Info describes the op.
func (*KeepRows) Info() Info {
	return Info{
		Name: "keep_rows", Version: 1, New: func() Op { return NewKeepRows(768) },
		In: []string{"rows", "image"}, Out: []string{"rows"},
		Reference: "transformers 5.23.0 DeepseekOcr2ImageProcessor", Exactness: "0",
	}
}

// Validate checks the side.
func (o *KeepRows) Validate() error { return checkSide("side", o.Side) }

// Infer sets the number of rows.
func (o *KeepRows) Infer(dst, in []tensor.Desc) error {
	if err := wantTiles(in[0]); err != nil {
		return err
	}
	if err := wantImage(in[1]); err != nil {
		return err
	}
	dst[0] = in[0]
	switch h, w := in[1].Height(), in[1].Width(); {
	case max(h, w) > o.Side:
	case h == tensor.Unknown || w == tensor.Unknown:
		dst[0].Shape = in[0].Shape.With(0, tensor.Unknown)
	default:
		dst[0].Shape = in[0].Shape.With(0, 0)
	}
	return inferred(dst[0])
}

// Apply copies the rows.
func (o *KeepRows) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	return nil
}
