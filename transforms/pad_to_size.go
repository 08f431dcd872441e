package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Position says where an image lies in a larger one.
type Position uint8

// The positions.
const (
	Center      Position = iota // the odd pixel of padding at the bottom and right
	TopLeft                     // padding at the bottom and right
	BottomRight                 // padding at the top and left
)

var positionNames = []string{"center", "top_left", "bottom_right"}

func (p Position) String() string { return enum.String("position", positionNames, p) }

// MarshalText writes the name.
func (p Position) MarshalText() ([]byte, error) {
	return enum.Format("position", positionNames, p)
}

// UnmarshalText reads the name.
func (p *Position) UnmarshalText(t []byte) error {
	return enum.Parse(p, "position", positionNames, t)
}

// before is how much of n pixels of padding comes before the image.
func (p Position) before(n int) int {
	switch p {
	case TopLeft:
		return 0
	case BottomRight:
		return n
	}
	return n / 2
}

// PadToSize adds a border to an image so that it is Height x Width. An image
// with a longer side is an ErrInput. It takes any dtype of fixed size and both
// layouts, and keeps them; no value is changed.
//
// Reference: NumPy 2.4.6, pad with the widths that the position gives, as
// transformers 5.23.0 uses it in image_transforms.pad (top_left) and for Donut (center).
type PadToSize struct {
	Height   int      `json:"height"`   // of the output, in pixels, 1 to 2^24
	Width    int      `json:"width"`    // likewise
	Position Position `json:"position"` // of the image in the output; usually center
	Mode     PadMode  `json:"mode"`     // usually constant
	// Fill is the value of constant borders, in the image's own range: one for
	// all channels or one for each. Usually 0. A value that the image's dtype
	// cannot hold is an ErrInput.
	Fill []float64 `json:"fill"`
}

//msgp:tuple PadToSize

func init() {
	Register(Info{
		Name: "pad_to_size", Version: 1, New: func() Op { return NewPadToSize(224, 224) },
		Reference: "NumPy 2.4.6 pad, transformers 5.23.0 image_transforms.pad", Exactness: "0",
	})
}

// NewPadToSize centres the image on zeros.
func NewPadToSize(height, width int) *PadToSize {
	return &PadToSize{Height: height, Width: width, Position: Center, Mode: PadConstant, Fill: []float64{0}}
}

// Validate checks the size, the position, the mode and that there is a fill value.
func (o *PadToSize) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkEnum("position", o.Position, positionNames); err != nil {
		return err
	}
	if err := checkEnum("mode", o.Mode, padModeNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer gives the image Height x Width.
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
	top, left := o.Position.before(o.Height-src[0].Height()), o.Position.before(o.Width-src[0].Width())
	return padTo(c, dst[0], src[0], top, left, o.Mode, o.Fill)
}
