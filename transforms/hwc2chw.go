package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// HWC2CHW moves the channels of an image from the innermost to the outermost
// axis. It takes HWC images of any dtype of fixed size and gives CHW ones of
// the same dtype; no value is changed. Another layout is an ErrInput.
//
// Reference: NumPy 2.4.6, transpose(2, 0, 1).
type HWC2CHW struct{}

//msgp:tuple HWC2CHW

func init() {
	Register(Info{
		Name: "hwc2chw", Version: 1, New: func() Op { return NewHWC2CHW() },
		Reference: "NumPy 2.4.6 transpose", Exactness: "0",
	})
}

// NewHWC2CHW makes the op.
func NewHWC2CHW() *HWC2CHW { return &HWC2CHW{} }

// Validate accepts it always: there are no parameters.
func (o *HWC2CHW) Validate() error { return nil }

// Infer takes HWC and gives CHW.
func (o *HWC2CHW) Infer(dst, in []tensor.Desc) error {
	return inferLayout(dst, in, tensor.HWC, tensor.CHW)
}

// Apply copies.
func (o *HWC2CHW) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	pixels, channels := s.Height()*s.Width(), s.Channels()
	switch out := dst[0].Data; s.DType.Size() {
	case 1:
		kernel.Deinterleave(out, pixels, s.Data, channels)
	case 2:
		kernel.Deinterleave(tensor.Cast[uint16](out), pixels, tensor.Cast[uint16](s.Data), channels)
	case 4:
		kernel.Deinterleave(tensor.Cast[int32](out), pixels, tensor.Cast[int32](s.Data), channels)
	case 8:
		kernel.Deinterleave(tensor.Cast[int64](out), pixels, tensor.Cast[int64](s.Data), channels)
	}
	return nil
}

// inferLayout takes an image of one layout and gives it in another.
func inferLayout(dst, in []tensor.Desc, from, to tensor.Layout) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if in[0].Layout != from {
		return inputErr("%v, want layout %v", in[0], from)
	}
	dst[0] = tensor.Image(in[0].DType, to, in[0].Height(), in[0].Width(), in[0].Channels())
	return nil
}

// Pointwise says that the op is one, see type Pointwise.
func (o *HWC2CHW) Pointwise() {}
