package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomGaussianNoise adds normal noise to an image, other noise to each
// sample. It takes the images of GaussianNoise.
//
// Reference: torchvision 0.29.2's v2 GaussianNoise. The key of the noise is
// drawn.
type RandomGaussianNoise struct {
	Mean  float64 `json:"mean"`  // mean of the noise, -1e6 to 1e6; for uint8 -50 to 50; default 0
	Sigma float64 `json:"sigma"` // standard deviation of the noise, 0 to 1e6; for uint8 up to 8; default 0.1
	Clip  bool    `json:"clip"`  // clip the result to the range of the image; default true
}

//msgp:tuple RandomGaussianNoise

// NewRandomGaussianNoise returns the op with mean 0, sigma 0.1 and clipping.
func NewRandomGaussianNoise() *RandomGaussianNoise { return &RandomGaussianNoise{0, 0.1, true} }

// Info describes the op.
func (*RandomGaussianNoise) Info() Info {
	return Info{
		Name: "random_gaussian_noise", Version: 1, New: func() Op { return NewRandomGaussianNoise() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the bounds.
func (o *RandomGaussianNoise) Validate() error { return checkNoise(o.Mean, o.Sigma) }

// Infer keeps the description.
func (o *RandomGaussianNoise) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantNoise(in[0], o.Mean, o.Sigma)
}

// Apply returns ErrNotDrawn.
func (o *RandomGaussianNoise) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a GaussianNoise.
func (o *RandomGaussianNoise) Draw(d *Draw) error {
	return emitOp(d, GaussianNoise{o.Mean, o.Sigma, o.Clip, d.Uint64()})
}
