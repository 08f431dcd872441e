package transforms

import "github.com/infer-prep/infer-prep/tensor"

// CHW2HWC moves the channels of an image from the outermost to the innermost
// axis. It takes a CHW image of any dtype of fixed size and returns an HWC
// image of the same dtype. No value changes. Another layout is an ErrInput.
//
// Reference: NumPy 2.4.6, transpose(1, 2, 0).
type CHW2HWC struct{}

//msgp:tuple CHW2HWC

// NewCHW2HWC returns the op.
func NewCHW2HWC() *CHW2HWC { return &CHW2HWC{} }

// Info describes the op.
func (*CHW2HWC) Info() Info {
	return Info{
		Name: "chw2hwc", Version: 1, New: func() Op { return NewCHW2HWC() },
		Reference: "NumPy 2.4.6 transpose", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *CHW2HWC) Validate() error { return nil }

// Infer takes CHW and gives HWC.
func (o *CHW2HWC) Infer(dst, in []tensor.Desc) error {
	return inferLayout(dst, in, tensor.CHW, tensor.HWC)
}

// Apply transposes.
func (o *CHW2HWC) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return applyLayout(c, dst[0], src[0])
}

// Pointwise marks the op as Pointwise.
func (o *CHW2HWC) Pointwise() {}
