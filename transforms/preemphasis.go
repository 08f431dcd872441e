//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Preemphasis subtracts from each sample of a sound Coefficient times the
// sample before it. The first sample stays. It takes float32 (samples) or
// (channels, samples) without a layout and keeps the description.
//
// The product and the difference are rounded to float32.
//
// Reference: torch 2.15.0, x[:, 1:] - c * x[:, :-1], as
// ParakeetFeatureExtractor of transformers 5.23.0 and Preemphasis of torchaudio
// 2.11.0 compute it.
type Preemphasis struct {
	Coefficient float64 `json:"coefficient"` // default 0.97
}

//msgp:tuple Preemphasis

// NewPreemphasis returns the op.
func NewPreemphasis(coefficient float64) *Preemphasis { return &Preemphasis{Coefficient: coefficient} }

// Info describes the op.
func (*Preemphasis) Info() Info {
	return Info{
		Name: "preemphasis", Version: 1, New: func() Op { return NewPreemphasis(0.97) },
		In: soundColumn, Out: soundColumn,
		Reference: "torch 2.15.0 ParakeetFeatureExtractor, torchaudio 2.11.0 Preemphasis", Exactness: "0",
	}
}

// Validate checks that the coefficient is finite.
func (o *Preemphasis) Validate() error {
	return checkValues("coefficient", []float64{o.Coefficient})
}

// Infer keeps the description.
func (o *Preemphasis) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() < 1 || d.Shape.Rank() > 2 {
		return inputErr("%v, want float32 (samples) or (channels, samples)", d)
	}
	dst[0] = d
	return nil
}

// Apply subtracts.
func (o *Preemphasis) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	n := s.Shape.At(s.Shape.Rank() - 1)
	if n == 0 {
		return nil
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	k := float32(o.Coefficient)
	for ; len(in) > 0; in, out = in[n:], out[n:] {
		last := in[0]
		out[0] = last
		for i := 1; i < n; i++ {
			x := in[i]
			out[i] = x - float32(k*last)
			last = x
		}
	}
	return nil
}
