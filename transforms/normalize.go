package transforms

import "github.com/infer-prep/infer-prep/tensor"

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
	step, next := strides(s.Desc)
	if s.Layout == tensor.HWC && channels == 3 {
		m0, m1, m2 := float32(channelValue(o.Mean, 0)), float32(channelValue(o.Mean, 1)), float32(channelValue(o.Mean, 2))
		s0, s1, s2 := float32(channelValue(o.Std, 0)), float32(channelValue(o.Std, 1)), float32(channelValue(o.Std, 2))
		for i := 0; i+2 < len(in); i += 3 {
			p, q := in[i:i+3:i+3], out[i:i+3:i+3]
			q[0], q[1], q[2] = (p[0]-m0)/s0, (p[1]-m1)/s1, (p[2]-m2)/s2
		}
		return nil
	}
	for ch := range channels {
		mean, std := float32(channelValue(o.Mean, ch)), float32(channelValue(o.Std, ch))
		for i, at := 0, ch*next; i < pixels; i, at = i+1, at+step {
			out[at] = (in[at] - mean) / std
		}
	}
	return nil
}

// Pointwise says that the op is one, see type Pointwise.
func (o *Normalize) Pointwise() {}
