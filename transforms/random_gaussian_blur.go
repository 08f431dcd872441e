package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomGaussianBlur blurs an image with a Gaussian of random standard
// deviation, the same for both axes. It takes the images, the kernel sizes and
// the sigmas of GaussianBlur with the same backend. RandomApply adds a
// probability.
//
// Reference: torchvision 0.29.2's v2 GaussianBlur. One number is drawn
// uniformly from Sigma. torchvision always blurs as the backend torch does,
// Pillow's images too.
type RandomGaussianBlur struct {
	KernelHeight int     `json:"kernel_height"` // rows of the kernel, odd, 1 to 4095; see GaussianBlur
	KernelWidth  int     `json:"kernel_width"`  // columns of the kernel, as KernelHeight
	Sigma        Range   `json:"sigma"`         // of standard deviations in pixels, 0 to 10000; torch: from 0.001; default 0.1 to 2
	Backend      Backend `json:"backend"`       // pillow, opencv or torch; default torch
}

//msgp:tuple RandomGaussianBlur
//sheet:random_gaussian_blur {"kernel_height": 13, "kernel_width": 13, "sigma": [2, 4]}

// NewRandomGaussianBlur returns the op with torch's arithmetic, a square kernel
// of size taps per axis, and torchvision's default range.
func NewRandomGaussianBlur(size int) *RandomGaussianBlur {
	return &RandomGaussianBlur{size, size, Range{0.1, 2}, Torch}
}

// blur returns the op for one sigma.
func (o *RandomGaussianBlur) blur(sigma float64) GaussianBlur {
	return GaussianBlur{o.KernelHeight, o.KernelWidth, sigma, sigma, o.Backend}
}

// Info describes the op.
func (*RandomGaussianBlur) Info() Info {
	return Info{
		Name: "random_gaussian_blur", Version: 1, New: func() Op { return NewRandomGaussianBlur(5) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks that both ends of the range make a valid GaussianBlur.
func (o *RandomGaussianBlur) Validate() error {
	if err := o.Sigma.check("sigma", 0, maxSigma); err != nil {
		return err
	}
	for _, sigma := range []float64{o.Sigma.Min, o.Sigma.Max} {
		b := o.blur(sigma)
		if err := b.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Infer keeps the description.
func (o *RandomGaussianBlur) Infer(dst, in []tensor.Desc) error {
	b := o.blur(o.Sigma.Max)
	return b.Infer(dst, in)
}

// Apply returns ErrNotDrawn.
func (o *RandomGaussianBlur) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a GaussianBlur.
func (o *RandomGaussianBlur) Draw(d *Draw) error {
	op := NewOp[GaussianBlur](d)
	*op = o.blur(o.Sigma.draw(&d.Stream))
	return d.Emit(op)
}
