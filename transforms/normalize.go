package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Normalize computes (x - mean) / std for every value x. It takes a float32
// image of any range, HWC or CHW, and keeps the description. The mean and the
// std are rounded to float32 first. The subtraction and the division are
// rounded separately. The bits of a NaN are unspecified.
//
// Reference: torchvision 0.29.2, normalize; transformers 5.23.0,
// image_transforms.normalize; NumPy 2.4.6 in float32.
type Normalize struct {
	Mean []float64 `json:"mean"` // one for all channels or one per channel, in the image's own range
	Std  []float64 `json:"std"`  // one for all channels or one per channel; not 0, also after rounding to float32
}

//msgp:tuple Normalize

// NewNormalize returns the op, which keeps the slices.
func NewNormalize(mean, std []float64) *Normalize { return &Normalize{Mean: mean, Std: std} }

// Info describes the op.
func (*Normalize) Info() Info {
	return Info{
		Name: "normalize", Version: 1, InPlace: true,
		// ImageNet's, for values of 0 to 1.
		New:       func() Op { return NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}) },
		Reference: "torchvision 0.29.2 normalize, transformers 5.23.0 normalize", Exactness: "0",
	}
}

// Validate checks that the values are present and finite and that no divisor is
// 0.
func (o *Normalize) Validate() error { return checkMeanStd(o.Mean, o.Std) }

func checkMeanStd(mean, std []float64) error {
	if err := checkValues("mean", mean); err != nil {
		return err
	}
	return checkDivisors("std", std)
}

// Infer keeps the description.
func (o *Normalize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0], tensor.Float32); err != nil {
		return err
	}
	if err := wantPerChannel(in[0], "mean", len(o.Mean)); err != nil {
		return err
	}
	return wantPerChannel(in[0], "std", len(o.Std))
}

// Apply normalizes.
func (o *Normalize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	channels, pixels := s.Channels(), s.Height()*s.Width()
	mean, std := tensor.Cast[float32](c.Scratch(4*channels)), tensor.Cast[float32](c.Scratch(4*channels))
	for ch := range channels {
		mean[ch], std[ch] = float32(channelValue(o.Mean, ch)), float32(channelValue(o.Std, ch))
	}
	if s.Layout == tensor.HWC {
		kernel.NormalizeF32(out, in, mean, std)
		return nil
	}
	for ch := range channels {
		at := ch * pixels
		kernel.NormalizeF32(out[at:][:pixels], in[at:][:pixels], mean[ch:ch+1], std[ch:ch+1])
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Normalize) Pointwise() {}

// Linear returns (v - Mean) / Std.
func (o *Normalize) Linear() (LinearMap, bool) {
	return LinearMap{Sub: o.Mean, Div: o.Std}, true
}
