package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Normalize computes (x - mean) / std for every value x. It takes and gives
// float32 of any range, in both layouts. The mean and std of each channel are
// rounded to float32 first; there is one rounding after the subtraction and one
// after the division. The bits of a NaN are not specified.
//
// Reference: torchvision 0.29.2, normalize; transformers 5.23.0,
// image_transforms.normalize; NumPy 2.4.6 in float32.
type Normalize struct {
	Mean []float64 `json:"mean"` // one for all channels or one for each, in the image's own range
	Std  []float64 `json:"std"`  // likewise; not 0, also when rounded to float32
}

//msgp:tuple Normalize

func init() {
	Register(Info{
		Name: "normalize", Version: 1, InPlace: true,
		// ImageNet's, for values of 0 to 1.
		New:       func() Op { return NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}) },
		Reference: "torchvision 0.29.2 normalize, transformers 5.23.0 normalize", Exactness: "0",
	})
}

// NewNormalize makes the op; it keeps the slices.
func NewNormalize(mean, std []float64) *Normalize { return &Normalize{Mean: mean, Std: std} }

// Validate checks that there are values, finite, and no divisor of 0.
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

// Apply computes.
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

// Pointwise says that the op is one, see type Pointwise.
func (o *Normalize) Pointwise() {}
