package transforms

import "github.com/infer-prep/infer-prep/tensor"

// HeightRatio returns the height of a scaled image divided by that of the
// original one, a float64 scalar. Models that scale coordinates with the image
// take it. Both images have any dtype of fixed size, HWC or CHW; their values
// are not read.
//
// Inputs: scaled, the scaled image; size, int64 (2): the height and width of
// the original one, as ImageSize returns them. A height below 1 is an ErrInput.
//
// Reference: transformers 5.23.0, image_scale_factors of FuyuImageProcessor.
type HeightRatio struct{}

//msgp:tuple HeightRatio

// NewHeightRatio returns the op.
func NewHeightRatio() *HeightRatio { return &HeightRatio{} }

// Info describes the op.
func (*HeightRatio) Info() Info {
	return Info{
		Name: "height_ratio", Version: 1, New: func() Op { return NewHeightRatio() },
		In: []string{"scaled", "size"}, Out: []string{"ratio"},
		Reference: "transformers 5.23.0 FuyuImageProcessor", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *HeightRatio) Validate() error { return nil }

// Infer describes the number.
func (o *HeightRatio) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if h := in[0].Height(); h > maxSide {
		return inputErr("%v, want sides of at most %d", in[0], maxSide)
	}
	if d := in[1]; d.DType != tensor.Int64 || d.Layout != tensor.NoLayout || d.Shape.Rank() != 1 || d.Shape.At(0) != 2 {
		return inputErr("size is %v, want int64 (2)", d)
	}
	dst[0] = tensor.Desc{DType: tensor.Float64}
	return nil
}

// Apply divides.
func (o *HeightRatio) Apply(c *Context, dst, src []*tensor.Tensor) error {
	size, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	h := tensor.View[int64](size)[0]
	if h < 1 || h > maxSide {
		return inputErr("size has the height %d, want 1 to %d", h, maxSide)
	}
	tensor.View[float64](dst[0])[0] = float64(src[0].Height()) / float64(h)
	return nil
}
