package transforms

import (
	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/tensor"
)

// MaskRows marks the rows of a sequence whose sum is not 0, such as the patches
// before the padding. A sequence is float32 without a layout, with at least two
// axes; its first axis counts the rows. The output is a float32 vector of 1 for
// a row whose sum is not 0, else 0. The values of a row are added in float32,
// in the order of Standardize.
//
// Reference: transformers 5.23.0, attention_mask of
// Pix2StructImageProcessorPil, with NumPy 2.4.6.
type MaskRows struct{}

//msgp:tuple MaskRows

// NewMaskRows returns the op.
func NewMaskRows() *MaskRows { return &MaskRows{} }

// Info describes the op.
func (*MaskRows) Info() Info {
	return Info{
		Name: "mask_rows", Version: 1, New: func() Op { return NewMaskRows() },
		Out:       []string{"mask"},
		Reference: "transformers 5.23.0 Pix2StructImageProcessorPil, NumPy 2.4.6", Exactness: "0",
	}
}

// Validate accepts the op, which has no parameters.
func (o *MaskRows) Validate() error { return nil }

// Infer describes a number for each row.
func (o *MaskRows) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() < 2 {
		return inputErr("%v, want a sequence of float32: at least two axes and no layout", d)
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(d.Shape.At(0))}
	return inferred(dst[0])
}

// Apply writes the mask.
func (o *MaskRows) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, mask := tensor.View[float32](s), tensor.View[float32](dst[0])
	if len(mask) == 0 {
		return nil
	}
	row := len(in) / len(mask)
	for i := range mask {
		mask[i] = 0
		if dsp.PairwiseSum(in[i*row:][:row]) != 0 {
			mask[i] = 1
		}
	}
	return nil
}
