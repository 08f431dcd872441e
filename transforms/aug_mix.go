package transforms

import "github.com/infer-prep/infer-prep/tensor"

// AugMix mixes an image with the results of random lists of augmentations. It
// takes a uint8 image of one or three channels, HWC or CHW, and keeps the
// description.
//
// The weights of the image and of the mixture are drawn from the Dirichlet
// distribution of parameter Alpha, and then the weights of the lists. For each
// list, its length is drawn from 1 to 3, unless ChainDepth states it. Each
// augmentation is drawn uniformly from 13 (without AllOps, from 9). Its
// magnitude is one of the first Severity of ten bins, drawn uniformly. It is
// negated at random, as in AutoAugment. The scale is AutoAugment's, except for
// translations of 0 to a third of the side and 4 to 0 bits of posterize.
//
// If an augmentation moves pixels, no mask, box or point can move with the
// image: the sample is an ErrInput. torchvision refuses all samples that have
// them.
//
// Source: Hendrycks et al., AugMix: A Simple Data Processing Method to Improve
// Robustness and Uncertainty, 2020. Reference: torchvision 0.29.2's v2.AugMix,
// which computes Pillow images as tensors too.
type AugMix struct {
	Severity      int           `json:"severity"`      // number of bins to draw from, 1 to 10; default 3
	MixtureWidth  int           `json:"mixture_width"` // number of lists, 1 to 64; default 3
	ChainDepth    int           `json:"chain_depth"`   // length of a list, 1 to 64; 0: a random one; default 0
	Alpha         float64       `json:"alpha"`         // 1e-3 to 1000; default 1
	AllOps        bool          `json:"all_ops"`       // brightness, color, contrast and sharpness too; default true
	Interpolation Interpolation `json:"interpolation"` // nearest or bilinear; default bilinear
	Fill          NumberList    `json:"fill"`          // see Affine; default empty
}

//msgp:tuple AugMix

// NewAugMix returns the op with torchvision's defaults.
func NewAugMix() *AugMix {
	return &AugMix{Severity: 3, MixtureWidth: 3, Alpha: 1, AllOps: true, Interpolation: Bilinear}
}

// mixSpace are the augmentations of AugMix; those after the ninth are left out
// without AllOps.
var mixSpace = [...]augmentation{
	augShearX, augShearY, augTranslateX, augTranslateY, augRotate, augPosterize, augSolarize, augAutoContrast, augEqualize,
	augBrightness, augColor, augContrast, augSharpness,
}

func (o *AugMix) how() augHow { return augHow{o.Interpolation, Torch, o.Fill} }

// Info describes the op.
func (*AugMix) Info() Info {
	return Info{
		Name: "aug_mix", Version: 1, New: func() Op { return NewAugMix() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the numbers and how pixels are computed.
func (o *AugMix) Validate() error {
	for _, p := range []struct {
		name           string
		n, least, most int
	}{{"severity", o.Severity, 1, 10}, {"mixture_width", o.MixtureWidth, 1, maxListed}, {"chain_depth", o.ChainDepth, 0, maxListed}} {
		if p.n < p.least || p.n > p.most {
			return paramErr("%s is %d, want %d to %d", p.name, p.n, p.least, p.most)
		}
	}
	if err := checkBounds("alpha", o.Alpha, 1e-3, 1000); err != nil {
		return err
	}
	return o.how().validate()
}

// Infer keeps the description.
func (o *AugMix) Infer(dst, in []tensor.Desc) error { return o.how().infer(dst, in) }

// Apply returns ErrNotDrawn.
func (o *AugMix) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// mixDraws are the random numbers of AugMix.
type mixDraws interface {
	augDraws
	Dirichlet(alpha float64, dst []float64)
}

// Draw emits a MixChains.
func (o *AugMix) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	return o.emit(d, d, h, w)
}

// emit emits a MixChains with the numbers of r.
func (o *AugMix) emit(d *Draw, r mixDraws, h, w int) error {
	op := NewOp[MixChains](d)
	weights, chains := append(op.Weights[:0], 0, 0), op.Chains[:cap(op.Chains)]
	r.Dirichlet(o.Alpha, weights)
	own, mixed := float32(weights[0]), float32(weights[1])
	for weights = weights[:0]; len(weights) < o.MixtureWidth; {
		weights = append(weights, 0)
	}
	r.Dirichlet(o.Alpha, weights)
	for i := range weights { // torch's float32
		weights[i] = float64(float32(weights[i]) * mixed)
	}
	for len(chains) < o.MixtureWidth {
		chains = append(chains, nil)
	}
	chains = chains[:o.MixtureWidth]
	chain := func() error {
		depth := o.ChainDepth
		if depth == 0 {
			depth = 1 + r.IntN(3)
		}
		for range depth {
			if err := o.how().emit(d, o.choose(r, h, w)); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range chains {
		var err error
		if chains[i], err = d.collect(chains[i][:0], d.In[0], chain); err != nil {
			return err
		}
	}
	*op = MixChains{Own: float64(own), Weights: weights, Chains: chains}
	return d.Emit(op)
}

// choose returns one augmentation for an image of h x w pixels.
func (o *AugMix) choose(r augDraws, h, w int) augmented {
	n := len(mixSpace)
	if !o.AllOps {
		n -= 4
	}
	a := augmented{what: mixSpace[r.IntN(n)]}
	if a.what.scaled() {
		a.magnitude = mixScale.magnitude(a.what, r.IntN(o.Severity), 10, h, w)
	}
	return a.negated(r)
}
