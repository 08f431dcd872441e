package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// VerticalFlip mirrors an image top to bottom: row y becomes row H-1-y. It
// takes any dtype of fixed size, HWC or CHW, and keeps both. No value changes.
//
// Reference: NumPy 2.4.6, flip along the height. The flips of Pillow,
// torchvision and OpenCV return the same.
type VerticalFlip struct{}

//msgp:tuple VerticalFlip

// NewVerticalFlip returns the op.
func NewVerticalFlip() *VerticalFlip { return &VerticalFlip{} }

// Info describes the op.
func (*VerticalFlip) Info() Info {
	return Info{
		Name: "vertical_flip", Version: 1, New: func() Op { return NewVerticalFlip() },
		Reference: "NumPy 2.4.6 flip", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *VerticalFlip) Validate() error { return nil }

// Infer keeps the description.
func (o *VerticalFlip) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0])
}

// Apply mirrors.
func (o *VerticalFlip) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	g := gridOf(s.Desc)
	line := g.width * g.pixel
	size := g.height * line
	for p := range g.planes {
		kernel.CopyRows(kernel.Rows{Data: dst[0].Data, At: (p+1)*size - line, Step: -line}, kernel.Rows{Data: s.Data, At: p * size, Step: line}, line, g.height)
	}
	return nil
}

// Frame mirrors the rows.
func (o *VerticalFlip) Frame(h, w int) Frame { return Frame{Height: h, Width: w, FlipY: true} }

// Move mirrors a column.
func (o *VerticalFlip) Move(d *Draw, r Role, from, _ tensor.Desc) error {
	return moveFlip[VerticalFlip](d, o, r, true, from.Height())
}
