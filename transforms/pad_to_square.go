package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadToSquare pads the shorter sides of an image until it is a square. It takes
// any dtype of fixed size, HWC or CHW, and keeps both. No value changes. A fill
// that the dtype cannot hold is an ErrInput.
//
// Reference: transformers 5.23.0, pad_to_square of LlavaImageProcessorPil
// (center, constant).
type PadToSquare struct {
	Position Position `json:"position"` // of the image in the output; default center
	Mode     PadMode  `json:"mode"`     // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple PadToSquare

// NewPadToSquare returns the op that centres the image on fill. It keeps the
// slice.
func NewPadToSquare(fill []float64) *PadToSquare {
	return &PadToSquare{Position: Center, Mode: PadConstant, Fill: fill}
}

// Info describes the op.
func (*PadToSquare) Info() Info {
	return Info{
		Name: "pad_to_square", Version: 1, New: func() Op { return NewPadToSquare([]float64{0}) },
		Reference: "transformers 5.23.0 LlavaImageProcessorPil.pad_to_square", Exactness: "0",
	}
}

// Validate checks the position, the mode and the fill.
func (o *PadToSquare) Validate() error {
	return checkBorder(o.Position, o.Mode, o.Fill)
}

// Infer sets both sides to the longer one.
func (o *PadToSquare) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	side := tensor.Unknown
	if h, w := in[0].Height(), in[0].Width(); h != tensor.Unknown && w != tensor.Unknown {
		side = max(h, w)
	}
	dst[0] = in[0].WithSize(side, side)
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToSquare) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padPlaced(c, dst[0], src[0], o.Position, o.Mode, o.Fill)
}

// Move pads a column as Pad does.
func (o *PadToSquare) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePlaced[PadToSquare](d, o, o.Position, o.Mode, r, from, to)
}
