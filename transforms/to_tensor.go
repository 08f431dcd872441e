package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/internal/lazy"
	"github.com/infer-prep/infer-prep/tensor"
)

// ToTensor converts a uint8 HWC image to float32 CHW and divides every value by
// 255. The quotients are rounded to float32 and range from 0 to 1. Another
// dtype or layout is an ErrInput.
//
// Reference: torchvision 0.29.2, to_tensor, which divides. Its newer to_dtype
// multiplies by 1/255; see RescaleMultiply.
type ToTensor struct{}

//msgp:tuple ToTensor

// NewToTensor returns the op.
func NewToTensor() *ToTensor { return &ToTensor{} }

// Info describes the op.
func (*ToTensor) Info() Info {
	return Info{
		Name: "to_tensor", Version: 1, New: func() Op { return NewToTensor() },
		Reference: "torchvision 0.29.2 to_tensor", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *ToTensor) Validate() error { return nil }

// Infer takes uint8 HWC and returns float32 CHW.
func (o *ToTensor) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8); err != nil {
		return err
	}
	if err := inferLayout(dst, in, tensor.HWC, tensor.CHW); err != nil {
		return err
	}
	dst[0].DType = tensor.Float32
	return inferred(dst[0])
}

// unitTable holds v/255 for every uint8 v, four times: one table per channel.
var unitTable lazy.Table[[4 * 256]float32]

func fillUnit(t *[4 * 256]float32) {
	for v := range t {
		t[v] = float32(v%256) / 255
	}
}

// Apply converts.
func (o *ToTensor) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	unit := unitTable.Get(fillUnit)
	out, channels := tensor.View[float32](dst[0]), s.Channels()
	pixels := s.Height() * s.Width()
	if channels*256 <= len(unit) {
		kernel.LookupCHW(out, pixels, s.Data[:channels*pixels], channels, unit[:channels*256])
		return nil
	}
	for ch := range channels {
		plane, at := out[ch*pixels:][:pixels], ch
		for i := range plane {
			plane[i] = unit[s.Data[at]]
			at += channels
		}
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *ToTensor) Pointwise() {}

// Linear returns v / 255.
func (o *ToTensor) Linear() (LinearMap, bool) {
	return LinearMap{Div: []float64{255}}, true
}
