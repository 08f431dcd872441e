package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Fill sets all elements of a tensor to a number. It takes any tensor of
// fixed-size elements and keeps the description. A number that the dtype cannot
// hold is an ErrInput.
//
// Reference: MindSpore 2.10.0, transforms.Fill. It wraps and truncates a number
// that an integer dtype cannot hold, and refuses float16.
type Fill struct {
	Value float64 `json:"value"` // a finite number; default 0
}

//msgp:tuple Fill
//sheet:fill {"value": 128}

// NewFill returns the op.
func NewFill(value float64) *Fill { return &Fill{Value: value} }

// Info describes the op.
func (*Fill) Info() Info {
	return Info{
		Name: "fill", Version: 1, New: func() Op { return NewFill(0) }, InPlace: true,
		Reference: "MindSpore 2.10.0 transforms.Fill", Exactness: "0",
	}
}

// Validate checks that the value is finite.
func (o *Fill) Validate() error { return checkFinite("value", o.Value) }

// Infer keeps the description.
func (o *Fill) Infer(dst, in []tensor.Desc) error {
	if err := wantSized(in[0]); err != nil {
		return err
	}
	if !holds(in[0].DType, o.Value) {
		return inputErr("%v cannot hold value = %v", in[0].DType, o.Value)
	}
	dst[0] = in[0]
	return nil
}

// Apply writes the number.
func (o *Fill) Apply(c *Context, dst, _ []*tensor.Tensor) error {
	size := dst[0].DType.Size()
	value := c.Scratch(8)[:size]
	putNumber(value, dst[0].DType, o.Value)
	kernel.RepeatPixel(dst[0].Data, value)
	return nil
}
