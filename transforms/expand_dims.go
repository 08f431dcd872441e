package transforms

import (
	"github.com/infer-prep/infer-prep/tensor"
)

// ExpandDims inserts an axis of length 1, such as the frames of a video that
// has one image. It takes a tensor of any dtype of fixed size with at most 7
// axes. The output has no layout. No value changes.
//
// Reference: NumPy 2.4.6, expand_dims.
type ExpandDims struct {
	Axis int `json:"axis"` // index of the new axis in the output, from 0, the outermost; default 0
}

//msgp:tuple ExpandDims

// NewExpandDims returns the op.
func NewExpandDims(axis int) *ExpandDims { return &ExpandDims{Axis: axis} }

// Info describes the op.
func (*ExpandDims) Info() Info {
	return Info{
		Name: "expand_dims", Version: 1, New: func() Op { return NewExpandDims(0) },
		Reference: "NumPy 2.4.6 expand_dims", Exactness: "0",
	}
}

// Validate checks the axis.
func (o *ExpandDims) Validate() error {
	if o.Axis < 0 || o.Axis >= tensor.MaxRank {
		return paramErr("axis is %d, want 0 to %d", o.Axis, tensor.MaxRank-1)
	}
	return nil
}

// Infer inserts the axis.
func (o *ExpandDims) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	rank := d.Shape.Rank()
	if d.DType == tensor.Bytes || rank == tensor.MaxRank || o.Axis > rank {
		return inputErr("%v, want a dtype of fixed size and %d to %d axes", d, o.Axis, tensor.MaxRank-1)
	}
	dims := make([]int, 0, tensor.MaxRank)
	for i := range rank + 1 {
		if i == o.Axis {
			dims = append(dims, 1)
		}
		if i < rank {
			dims = append(dims, d.Shape.At(i))
		}
	}
	dst[0] = tensor.Desc{DType: d.DType, Shape: tensor.Dims(dims...)}
	return nil
}

// Apply copies the values.
func (o *ExpandDims) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	return nil
}
