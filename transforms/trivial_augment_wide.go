package transforms

import "github.com/infer-prep/infer-prep/tensor"

// TrivialAugmentWide runs one of RandAugment's augmentations with a random
// magnitude. It takes a uint8 image of one or three channels, HWC or CHW, and
// keeps the description.
//
// The augmentation is drawn first, then one of Bins bins for its magnitude. It
// is negated at random, as in AutoAugment. The bins range over shears of 0 to
// 0.99, translations of 0 to 32 pixels, rotations of 0 to 135 degrees, changes
// of a factor by 0 to 0.99, 8 to 2 bits of posterize, and thresholds of
// solarize from 255 to 0.
//
// Source: Müller, Hutter: TrivialAugment: Tuning-free Yet State-of-the-Art Data
// Augmentation, 2021. Reference: torchvision 0.29.2's v2.TrivialAugmentWide:
// backend pillow for Pillow images, torch for tensors.
type TrivialAugmentWide struct {
	Bins          int           `json:"bins"`          // number of bins of the magnitudes, 2 to 1000; default 31
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear or bicubic (pillow); default nearest
	Backend       Backend       `json:"backend"`       // pillow or torch; default pillow
	Fill          NumberList    `json:"fill"`          // see Affine; default empty
}

//msgp:tuple TrivialAugmentWide

// NewTrivialAugmentWide returns the op with 31 bins, Pillow's pixels and
// nearest.
func NewTrivialAugmentWide() *TrivialAugmentWide {
	return &TrivialAugmentWide{Bins: 31, Interpolation: Nearest}
}

func (o *TrivialAugmentWide) how() augHow { return augHow{o.Interpolation, o.Backend, o.Fill} }

// Info describes the op.
func (*TrivialAugmentWide) Info() Info {
	return Info{
		Name: "trivial_augment_wide", Version: 1, New: func() Op { return NewTrivialAugmentWide() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the bins and how pixels are computed.
func (o *TrivialAugmentWide) Validate() error {
	if err := checkBins(o.Bins); err != nil {
		return err
	}
	return o.how().validate()
}

// Infer keeps the description.
func (o *TrivialAugmentWide) Infer(dst, in []tensor.Desc) error { return o.how().infer(dst, in) }

// Apply returns ErrNotDrawn.
func (o *TrivialAugmentWide) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an op, or none.
func (o *TrivialAugmentWide) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	return o.how().emit(d, o.choose(d, h, w))
}

// choose returns an augmentation for an image of h x w pixels.
func (o *TrivialAugmentWide) choose(r augDraws, h, w int) augmented {
	a := augmented{what: augmentation(r.IntN(int(augInvert)))}
	if a.what.scaled() {
		a.magnitude = wideScale.magnitude(a.what, r.IntN(o.Bins), o.Bins, h, w)
	}
	return a.negated(r)
}
