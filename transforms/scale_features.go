//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ScaleFeatures computes (max(x, peak - Range) - Sub) / Div * Mul + Add for
// every value x. peak is the largest value of the tensor. It takes float32 of
// any shape without a layout, and keeps the description.
//
// All arithmetic is float32, with the parameters rounded to it. A Range of 0
// skips max, and a Mul of 1 with an Add of 0 the last two operations.
//
// Reference: transformers 5.23.0: WhisperFeatureExtractor (Range 8, Sub -4, Div
// 4), ASTFeatureExtractor.normalize (Sub the mean, Div twice the deviation),
// UnivNetFeatureExtractor.normalize (Mul 2, Add -1).
type ScaleFeatures struct {
	Range float64 `json:"range"` // 0 or more; 0 for none
	Sub   float64 `json:"sub"`   // default 0
	Div   float64 `json:"div"`   // not 0; default 1
	Mul   float64 `json:"mul"`   // default 1
	Add   float64 `json:"add"`   // default 0
}

//msgp:tuple ScaleFeatures

// NewScaleFeatures returns the op that computes (x - sub) / div.
func NewScaleFeatures(sub, div float64) *ScaleFeatures {
	return &ScaleFeatures{Sub: sub, Div: div, Mul: 1}
}

// Info describes the op.
func (*ScaleFeatures) Info() Info {
	return Info{
		Name: "scale_features", Version: 1, New: func() Op { return NewScaleFeatures(0, 1) }, InPlace: true,
		In: soundColumn, Out: soundColumn,
		Reference: "transformers 5.23.0 WhisperFeatureExtractor, ASTFeatureExtractor, UnivNetFeatureExtractor", Exactness: "0",
	}
}

// Validate checks that the numbers are finite, that Range is not negative and
// that Div is not 0.
func (o *ScaleFeatures) Validate() error {
	for _, p := range []struct {
		name  string
		value float64
	}{{"range", o.Range}, {"sub", o.Sub}, {"mul", o.Mul}, {"add", o.Add}} {
		if err := checkValues(p.name, []float64{p.value}); err != nil {
			return err
		}
	}
	if o.Range < 0 {
		return paramErr("range is %v, want 0 or more", o.Range)
	}
	return checkDivisors("div", []float64{o.Div})
}

// Infer keeps the description.
func (o *ScaleFeatures) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if in[0].DType != tensor.Float32 || in[0].Layout != tensor.NoLayout {
		return inputErr("%v, want float32 without a layout", in[0])
	}
	dst[0] = in[0]
	return nil
}

// Apply scales.
func (o *ScaleFeatures) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	if len(in) == 0 {
		return nil
	}
	sub, div, mul, add := float32(o.Sub), float32(o.Div), float32(o.Mul), float32(o.Add)
	if o.Range > 0 {
		least := in[0]
		for _, x := range in {
			least = max(least, x)
		}
		least -= float32(o.Range)
		for i, x := range in {
			out[i] = (max(x, least) - sub) / div
		}
	} else {
		for i, x := range in {
			out[i] = (x - sub) / div
		}
	}
	if mul != 1 || add != 0 {
		for i, x := range out {
			out[i] = float32(x*mul) + add
		}
	}
	return nil
}
