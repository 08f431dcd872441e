package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// PadEnd pads a tensor at the end of each axis to the sizes of Shape, and cuts
// longer axes to them. It takes any tensor of fixed-size elements, with as many
// axes as Shape has sizes, and keeps dtype and layout. A fill that the dtype
// cannot hold is an ErrInput.
//
// Reference: MindSpore 2.10.0, transforms.PadEnd. As there, Fill is rounded to
// float32 for every dtype. MindSpore wraps and truncates a fill that an integer
// dtype cannot hold. It documents sizes of None, but fails on them.
type PadEnd struct {
	Shape IndexList `json:"shape"` // size of each axis, 1 to 2^24; 0 keeps the input's
	Fill  float64   `json:"fill"`  // value of the added elements; default 0
}

//msgp:tuple PadEnd
//sheet:pad_end {"shape": [94, 80, 0], "fill": 128}

// NewPadEnd returns the op with a fill of 0.
func NewPadEnd(shape ...int) *PadEnd { return &PadEnd{Shape: shape} }

// Info describes the op.
func (*PadEnd) Info() Info {
	return Info{
		Name: "pad_end", Version: 1, New: func() Op { return NewPadEnd() },
		Reference: "MindSpore 2.10.0 transforms.PadEnd", Exactness: "0",
	}
}

// Validate checks the sizes and the fill.
func (o *PadEnd) Validate() error {
	if len(o.Shape) > tensor.MaxRank {
		return paramErr("shape has %d sizes, want at most %d", len(o.Shape), tensor.MaxRank)
	}
	for i, n := range o.Shape {
		if n < 0 || n > maxSide {
			return paramErr("shape[%d] is %d, want 0 to %d", i, n, maxSide)
		}
	}
	return checkValues("fill", []float64{o.Fill})
}

// Infer sets the sizes.
func (o *PadEnd) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	if d.Shape.Rank() != len(o.Shape) {
		return inputErr("%v, want %d axes, one for each size of shape", d, len(o.Shape))
	}
	if fill := float64(float32(o.Fill)); !holds(d.DType, fill) {
		return inputErr("%v cannot hold fill = %v", d.DType, fill)
	}
	dst[0] = d
	for i, n := range o.Shape {
		if n != 0 {
			dst[0].Shape = dst[0].Shape.With(i, n)
		}
	}
	return inferred(dst[0])
}

// Apply fills the output and copies the elements.
func (o *PadEnd) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if dst[0].Shape != s.Shape {
		fill := c.Scratch(8)[:s.DType.Size()]
		putNumber(fill, s.DType, float64(float32(o.Fill)))
		kernel.RepeatPixel(dst[0].Data, fill)
	}
	copyCommon(dst[0], s, 0, 0, 0)
	return nil
}

// copyCommon copies the elements that two dense tensors both have, from an axis
// on. to and from are the elements where the axis starts.
func copyCommon(dst, src *tensor.Tensor, axis, to, from int) {
	size, rank := src.DType.Size(), src.Shape.Rank()
	if axis == rank { // a scalar
		copy(dst.Data, src.Data)
		return
	}
	n := min(dst.Shape.At(axis), src.Shape.At(axis))
	if axis == rank-1 {
		copy(dst.Data[to*size:][:n*size], src.Data[from*size:])
		return
	}
	for i := range n {
		copyCommon(dst, src, axis+1, to+i*dst.Strides[axis], from+i*src.Strides[axis])
	}
}
