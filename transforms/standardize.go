package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/dsp"
	"github.com/infer-prep/infer-prep/tensor"
)

// Standardize computes (x - mean) / max(std, 1/sqrt(n)) for every value x of an
// image, with the mean and the standard deviation of all its n values. It is
// known as per-image standardization. It takes a float32 image of at most 2^32
// finite values, HWC or CHW, and keeps the description.
//
// All arithmetic is float32, except that the sums are divided by n in float64.
// The values are added in the order of memory, as NumPy adds them: a part of up
// to 128 values by eight accumulators, a longer part in two halves, of which
// the first has a multiple of eight values.
//
// Reference: NumPy 2.4.6, np.mean and np.std of a contiguous array, as
// transformers 5.23.0 uses them in Pix2StructImageProcessorPil.normalize.
type Standardize struct{}

//msgp:tuple Standardize

// NewStandardize returns the op.
func NewStandardize() *Standardize { return &Standardize{} }

// Info describes the op.
func (*Standardize) Info() Info {
	return Info{
		Name: "standardize", Version: 1, New: func() Op { return NewStandardize() },
		Reference: "transformers 5.23.0 Pix2StructImageProcessorPil.normalize, NumPy 2.4.6", Exactness: "0",
	}
}

// Validate accepts the op, which has no parameters.
func (o *Standardize) Validate() error { return nil }

// Infer keeps the description.
func (o *Standardize) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0], tensor.Float32)
}

// Apply standardizes.
func (o *Standardize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	n := float64(len(in))
	mean := float32(float64(dsp.PairwiseSum(in)) / n)
	for i, x := range in {
		d := x - mean
		out[i] = float32(d * d)
	}
	std := float32(math.Sqrt(float64(float32(float64(dsp.PairwiseSum(out)) / n))))
	std = max(std, float32(1/math.Sqrt(n)))
	for i, x := range in {
		out[i] = (x - mean) / std
	}
	return nil
}
