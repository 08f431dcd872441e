package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// HorizontalFlip mirrors an image left to right: column x becomes column W-1-x.
// It takes any dtype of fixed size, HWC or CHW, and keeps both. No value
// changes.
//
// Reference: NumPy 2.4.6, flip along the width. The flips of Pillow,
// torchvision and OpenCV return the same.
type HorizontalFlip struct{}

//msgp:tuple HorizontalFlip

// NewHorizontalFlip returns the op.
func NewHorizontalFlip() *HorizontalFlip { return &HorizontalFlip{} }

// Info describes the op.
func (*HorizontalFlip) Info() Info {
	return Info{
		Name: "horizontal_flip", Version: 1, New: func() Op { return NewHorizontalFlip() },
		Reference: "NumPy 2.4.6 flip", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *HorizontalFlip) Validate() error { return nil }

// Infer keeps the description.
func (o *HorizontalFlip) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0])
}

// Apply mirrors.
func (o *HorizontalFlip) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	rows, pixel := s.Height(), s.DType.Size()
	if s.Layout == tensor.CHW {
		rows *= s.Channels()
	} else {
		pixel *= s.Channels()
	}
	line := s.Width() * pixel
	for y := range rows {
		kernel.FlipRow(dst[0].Data[y*line:][:line], s.Data[y*line:][:line], pixel)
	}
	return nil
}

// Frame mirrors the columns.
func (o *HorizontalFlip) Frame(h, w int) Frame { return Frame{Height: h, Width: w, FlipX: true} }

// Move mirrors a column.
func (o *HorizontalFlip) Move(d *Draw, r Role, from, _ tensor.Desc) error {
	return moveFlip[HorizontalFlip](d, o, r, false, from.Width())
}
