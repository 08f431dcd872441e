//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Dither adds normal noise to a sound, as Kaldi does before its features. It
// takes float32 without a layout, and keeps the description.
//
// Value i of the tensor, in the order of its elements, becomes x + n*Amplitude.
// Both operations round to float32. The number n is a float32 from package rng:
// Normal of the stream with key Key and ordinal i. Kaldi draws other numbers
// for each frame, so that a sample of two frames has two of them; here it has
// one. The default of Kaldi, 1 for sounds of 16 bits, is 1/32768 for sounds of
// -1 to 1.
//
// Reference: Kaldi's option dither, for the same normal numbers; the numbers
// are package rng's.
type Dither struct {
	Amplitude float64 `json:"amplitude"` // standard deviation of the noise, 0 to 1e6
	Key       uint64  `json:"key"`       // key of the noise
}

//msgp:tuple Dither

// NewDither returns the op.
func NewDither(amplitude float64, key uint64) *Dither { return &Dither{amplitude, key} }

// Info describes the op.
func (*Dither) Info() Info {
	return Info{
		Name: "dither", Version: 1, New: func() Op { return NewDither(1.0/32768, 0) }, InPlace: true,
		In: soundColumn, Out: soundColumn,
		Reference: "NumPy 2.4.6, x + n*amplitude, with normal numbers from package rng", Exactness: "0",
	}
}

// Validate checks the amplitude.
func (o *Dither) Validate() error { return checkBounds("amplitude", o.Amplitude, 0, maxNoise) }

// Infer keeps the description.
func (o *Dither) Infer(dst, in []tensor.Desc) error { return inferFloats(dst, in) }

// inferFloats keeps the description of a float32 tensor without a layout.
func inferFloats(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if in[0].DType != tensor.Float32 || in[0].Layout != tensor.NoLayout {
		return inputErr("%v, want float32 without a layout", in[0])
	}
	dst[0] = in[0]
	return nil
}

// Apply adds the noise.
func (o *Dither) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	amplitude, key := float32(o.Amplitude), noiseKey(o.Key)
	for i, x := range in {
		stream := key.At(uint64(i))
		out[i] = x + float32(float32(stream.Normal())*amplitude)
	}
	return nil
}
