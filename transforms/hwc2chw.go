package transforms

import "github.com/infer-prep/infer-prep/tensor"

// HWC2CHW moves the channels of an image from the innermost to the outermost
// axis. It takes an HWC image of any dtype of fixed size and returns a CHW
// image of the same dtype. No value changes. Another layout is an ErrInput.
//
// Reference: NumPy 2.4.6, transpose(2, 0, 1).
type HWC2CHW struct{}

//msgp:tuple HWC2CHW

// NewHWC2CHW returns the op.
func NewHWC2CHW() *HWC2CHW { return &HWC2CHW{} }

// Info describes the op.
func (*HWC2CHW) Info() Info {
	return Info{
		Name: "hwc2chw", Version: 1, New: func() Op { return NewHWC2CHW() },
		Reference: "NumPy 2.4.6 transpose", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *HWC2CHW) Validate() error { return nil }

// Infer takes HWC and gives CHW.
func (o *HWC2CHW) Infer(dst, in []tensor.Desc) error {
	return inferLayout(dst, in, tensor.HWC, tensor.CHW)
}

// Apply transposes.
func (o *HWC2CHW) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return applyLayout(c, dst[0], src[0])
}

// Pointwise marks the op as Pointwise.
func (o *HWC2CHW) Pointwise() {}
