//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomDither adds normal noise to a sound, other noise to each sample. It
// takes the tensors of Dither.
//
// Reference: Kaldi's option dither. The key of the noise is drawn.
type RandomDither struct {
	Amplitude float64 `json:"amplitude"` // standard deviation of the noise, 0 to 1e6; default 1/32768
}

//msgp:tuple RandomDither

// NewRandomDither returns the op.
func NewRandomDither(amplitude float64) *RandomDither { return &RandomDither{amplitude} }

// Info describes the op.
func (*RandomDither) Info() Info {
	return Info{
		Name: "random_dither", Version: 1, New: func() Op { return NewRandomDither(1.0 / 32768) },
		In: soundColumn, Out: soundColumn,
		Reference: "Kaldi 5.5 dither, with numbers from package rng", Exactness: randomExactness,
	}
}

// Validate checks the amplitude.
func (o *RandomDither) Validate() error { return checkBounds("amplitude", o.Amplitude, 0, maxNoise) }

// Infer keeps the description.
func (o *RandomDither) Infer(dst, in []tensor.Desc) error { return inferFloats(dst, in) }

// Apply returns ErrNotDrawn.
func (o *RandomDither) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a Dither.
func (o *RandomDither) Draw(d *Draw) error { return emitOp(d, Dither{o.Amplitude, d.Uint64()}) }
