package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Position is the place of an image in a larger one.
type Position uint8

// The positions.
const (
	Center      Position = iota // equal margins; an odd pixel of padding is at the bottom and at the right
	TopLeft                     // padding at the bottom and at the right
	BottomRight                 // padding at the top and at the left
)

var positionNames = []string{"center", "top_left", "bottom_right"}

func (p Position) String() string { return enum.String("position", positionNames, p) }

// MarshalText returns the name.
func (p Position) MarshalText() ([]byte, error) {
	return enum.Format("position", positionNames, p)
}

// UnmarshalText parses the name.
func (p *Position) UnmarshalText(t []byte) error {
	return enum.Parse(p, "position", positionNames, t)
}

// before returns how many of n pixels of padding precede the image.
func (p Position) before(n int) int {
	switch p {
	case TopLeft:
		return 0
	case BottomRight:
		return n
	}
	return n / 2
}

// checkBorder checks the parameters that ops for placed images share.
func checkBorder(p Position, m PadMode, fill []float64) error {
	if err := checkEnum("position", p, positionNames); err != nil {
		return err
	}
	if err := checkEnum("mode", m, padModeNames); err != nil {
		return err
	}
	return checkValues("fill", fill)
}

// padPlaced copies src to its place in the larger dst and draws the border.
func padPlaced(c *Context, dst, src *tensor.Tensor, p Position, m PadMode, fill []float64) error {
	return padTo(c, dst, src, p.before(dst.Height()-src.Height()), p.before(dst.Width()-src.Width()), m, fill)
}

// PadToSize pads an image to Height x Width. An image with a longer side is an
// ErrInput, and so is a fill that the dtype cannot hold. It takes any dtype of
// fixed size, HWC or CHW, and keeps both. No value changes.
//
// Reference: NumPy 2.4.6, pad with the widths that follow from the position, as
// transformers 5.23.0 uses it in image_transforms.pad (top_left) and for Donut
// (center).
type PadToSize struct {
	Height   int      `json:"height"`   // output height in pixels, 1 to 2^24
	Width    int      `json:"width"`    // output width in pixels, 1 to 2^24
	Position Position `json:"position"` // of the image in the output; default center
	Mode     PadMode  `json:"mode"`     // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple PadToSize
//sheet:pad_to_size {"height": 112, "width": 120}

// NewPadToSize returns the op that centres the image on zeros.
func NewPadToSize(height, width int) *PadToSize {
	return &PadToSize{Height: height, Width: width, Position: Center, Mode: PadConstant, Fill: []float64{0}}
}

// Info describes the op.
func (*PadToSize) Info() Info {
	return Info{
		Name: "pad_to_size", Version: 1, New: func() Op { return NewPadToSize(224, 224) },
		Reference: "NumPy 2.4.6 pad, transformers 5.23.0 image_transforms.pad", Exactness: "0",
	}
}

// Validate checks the size, the position, the mode and the fill.
func (o *PadToSize) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	return checkBorder(o.Position, o.Mode, o.Fill)
}

// Infer sets the output size.
func (o *PadToSize) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	if in[0].Height() > o.Height || in[0].Width() > o.Width {
		return inputErr("%v is larger than %dx%d (height x width)", in[0], o.Height, o.Width)
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *PadToSize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padPlaced(c, dst[0], src[0], o.Position, o.Mode, o.Fill)
}

// WithFill returns a copy of the op with another fill, and its own fill, nil if
// the mode is not constant.
func (o *PadToSize) WithFill(fill []float64) (changed Op, own []float64) {
	if o.Mode == PadConstant {
		own = o.Fill
	}
	c := *o
	c.Fill = fill
	return &c, own
}

// Move pads a column as Pad does.
func (o *PadToSize) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePlaced[PadToSize](d, o, o.Position, o.Mode, r, from, to)
}
