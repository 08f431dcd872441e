package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AntialiasBlur blurs an image before it is reduced to Height x Width pixels
// without antialiasing. It takes a uint8 or float32 image of any number of
// channels, HWC or CHW, and keeps the description. It blurs as GaussianBlur
// does with backend torch.
//
// In float32, the standard deviations are (h/Height - 1)/2 and (w/Width - 1)/2.
// If one is not above 0, the image stays as it is. An axis with the deviation s
// has n = 2·ceil(3·s) + 1 taps, and lim is computed in float32. As in the
// reference, the taps of the height are those along the rows, and those of the
// width along the columns. Sides of at most half a kernel are an ErrInput, and
// so are kernels of more than 4095 taps.
//
// Reference: transformers 5.23.0, Owlv2ImageProcessor.resize, with torchvision
// 0.29.2 and torch 2.15.0 on x86-64 with AVX-512.
type AntialiasBlur struct {
	Height int `json:"height"` // of the reduced image in pixels, 1 to 2^24; default 960
	Width  int `json:"width"`  // of the reduced image in pixels, 1 to 2^24; default 960
}

//msgp:tuple AntialiasBlur
//sheet:antialias_blur {"height": 30, "width": 30}

// NewAntialiasBlur returns the op.
func NewAntialiasBlur(height, width int) *AntialiasBlur { return &AntialiasBlur{height, width} }

// Info describes the op.
func (*AntialiasBlur) Info() Info {
	return Info{
		Name: "antialias_blur", Version: 1, New: func() Op { return NewAntialiasBlur(960, 960) },
		Reference: "transformers 5.23.0 Owlv2ImageProcessor, torchvision 0.29.2 (x86-64 with AVX-512)", Exactness: "0",
	}
}

// Validate checks the sides.
func (o *AntialiasBlur) Validate() error { return checkSides(o.Height, o.Width) }

// blur returns the blur of an image of h x w pixels; ok is false for none.
func (o *AntialiasBlur) blur(h, w int) (b GaussianBlur, ok bool, err error) {
	b.Backend = Torch
	for i, p := range [2]struct {
		from, to int
		taps     *int
		sigma    *float64
	}{{h, o.Height, &b.KernelWidth, &b.SigmaX}, {w, o.Width, &b.KernelHeight, &b.SigmaY}} {
		s := float32((float32(p.from)/float32(p.to) - 1) / 2)
		if !(s > 0) {
			return b, false, nil
		}
		n := float64(2*math.Ceil(float64(float32(3*s)))) + 1
		if n > maxKernel {
			return b, false, inputErr("an image of %d x %d (height x width) needs a kernel of %.0f taps along axis %d, want at most %d", h, w, n, i, maxKernel)
		}
		// The other taps of a narrower kernel are 0 too.
		*p.taps, *p.sigma = int(n), max(float64(s), minTorchSigma)
	}
	return b, true, nil
}

// Infer keeps the description.
func (o *AntialiasBlur) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d, tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	dst[0] = d
	h, w := d.Height(), d.Width()
	if h == tensor.Unknown || w == tensor.Unknown {
		return nil
	}
	if max(h, w) > maxSide {
		return inputErr("%v, want sides of at most %d", d, maxSide)
	}
	b, ok, err := o.blur(h, w)
	if err == nil && ok && (h <= b.KernelHeight/2 || w <= b.KernelWidth/2) {
		err = inputErr("%v, want more than %d x %d pixels (height x width), half the kernel", d, b.KernelHeight/2, b.KernelWidth/2)
	}
	return err
}

// Apply blurs.
func (o *AntialiasBlur) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b, ok, err := o.blur(s.Height(), s.Width())
	switch {
	case err != nil:
		return err
	case ok:
		b.applyTorch(c, dst[0], s, kernel.TorchGaussianTensor)
	default:
		copy(dst[0].Data, s.Data)
	}
	return nil
}
