package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadToMultiple pads an image until its height and its width are multiples of
// Multiple. Sides that are multiples already do not grow. It takes any dtype of
// fixed size, HWC or CHW, and keeps both. No value changes. A fill that the
// dtype cannot hold is an ErrInput.
//
// Reference: transformers 5.23.0, pad_image of DPTImageProcessorPil (center,
// constant).
type PadToMultiple struct {
	Multiple int      `json:"multiple"` // of both sides, in pixels, 1 to 2^24; 14 and 32 are common
	Position Position `json:"position"` // of the image in the output; default center
	Mode     PadMode  `json:"mode"`     // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple PadToMultiple

func init() {
	Register(Info{
		Name: "pad_to_multiple", Version: 1, New: func() Op { return NewPadToMultiple(32) },
		Reference: "transformers 5.23.0 DPTImageProcessorPil.pad_image", Exactness: "0",
	})
}

// NewPadToMultiple returns the op that centres the image on zeros.
func NewPadToMultiple(multiple int) *PadToMultiple {
	return &PadToMultiple{Multiple: multiple, Position: Center, Mode: PadConstant, Fill: []float64{0}}
}

// Validate checks the multiple, the position, the mode and the fill.
func (o *PadToMultiple) Validate() error {
	if err := checkSide("multiple", o.Multiple); err != nil {
		return err
	}
	return checkBorder(o.Position, o.Mode, o.Fill)
}

// Infer rounds both sides up.
func (o *PadToMultiple) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	up := func(n int) int { return grown(n, mod(-n, o.Multiple)) }
	dst[0] = in[0].WithSize(up(in[0].Height()), up(in[0].Width()))
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToMultiple) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padPlaced(c, dst[0], src[0], o.Position, o.Mode, o.Fill)
}

// Move pads a column as Pad does.
func (o *PadToMultiple) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePlaced[PadToMultiple](d, o, o.Position, o.Mode, r, from, to)
}
