package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PadToMin pads an image whose sides are shorter than Height and Width. Longer
// sides do not change. It takes any dtype of fixed size, HWC or CHW, and keeps
// both. No value changes. A fill that the dtype cannot hold is an ErrInput.
//
// Reference: NumPy 2.4.6, pad, as transformers 5.23.0 pads short lines of text
// for PP-OCR.
type PadToMin struct {
	Height   int      `json:"height"`   // smallest output height in pixels, 1 to 2^24
	Width    int      `json:"width"`    // smallest output width in pixels, 1 to 2^24
	Position Position `json:"position"` // of the image in the output; default top_left
	Mode     PadMode  `json:"mode"`     // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple PadToMin
//sheet:pad_to_min {"height": 112, "width": 112}

// NewPadToMin returns the op that pads with zeros at the bottom and right.
func NewPadToMin(height, width int) *PadToMin {
	return &PadToMin{Height: height, Width: width, Position: TopLeft, Mode: PadConstant, Fill: []float64{0}}
}

// Info describes the op.
func (*PadToMin) Info() Info {
	return Info{
		Name: "pad_to_min", Version: 1, New: func() Op { return NewPadToMin(48, 320) },
		Reference: "NumPy 2.4.6 pad", Exactness: "0",
	}
}

// Validate checks the size, the position, the mode and the fill.
func (o *PadToMin) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	return checkBorder(o.Position, o.Mode, o.Fill)
}

// Infer sets the size.
func (o *PadToMin) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	if h != tensor.Unknown {
		h = max(h, o.Height)
	}
	if w != tensor.Unknown {
		w = max(w, o.Width)
	}
	dst[0] = in[0].WithSize(h, w)
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToMin) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padPlaced(c, dst[0], src[0], o.Position, o.Mode, o.Fill)
}

// Move pads a column as Pad does.
func (o *PadToMin) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePlaced[PadToMin](d, o, o.Position, o.Mode, r, from, to)
}
