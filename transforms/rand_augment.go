package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandAugment runs NumOps of 14 augmentations: none, two shears, two
// translations, rotation, brightness, color, contrast, sharpness, posterize,
// solarize, auto contrast and equalize. It takes a uint8 image of one or three
// channels, HWC or CHW, and keeps the description.
//
// Each augmentation is drawn uniformly. Its magnitude is bin Magnitude of
// AutoAugment's scale, divided into Bins bins. It is negated at random, as in
// AutoAugment.
//
// Source: Cubuk et al., RandAugment: Practical Automated Data Augmentation with
// a Reduced Search Space, 2020. Reference: torchvision 0.29.2's v2.RandAugment:
// backend pillow for Pillow images, torch for tensors.
type RandAugment struct {
	NumOps        int           `json:"num_ops"`       // 0 to 64; default 2
	Magnitude     int           `json:"magnitude"`     // bin of the magnitudes, 0 to Bins-1; default 9
	Bins          int           `json:"bins"`          // number of bins, 2 to 1000; default 31
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear or bicubic (pillow); default nearest
	Backend       Backend       `json:"backend"`       // pillow or torch; default pillow
	Fill          NumberList    `json:"fill"`          // see Affine; default empty
}

//msgp:tuple RandAugment

// NewRandAugment returns the op with 31 bins, Pillow's pixels and nearest.
func NewRandAugment(numOps, magnitude int) *RandAugment {
	return &RandAugment{NumOps: numOps, Magnitude: magnitude, Bins: 31, Interpolation: Nearest}
}

func (o *RandAugment) how() augHow { return augHow{o.Interpolation, o.Backend, o.Fill} }

// Info describes the op.
func (*RandAugment) Info() Info {
	return Info{
		Name: "rand_augment", Version: 1, New: func() Op { return NewRandAugment(2, 9) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the numbers and how pixels are computed.
func (o *RandAugment) Validate() error {
	if o.NumOps < 0 || o.NumOps > maxListed {
		return paramErr("num_ops is %d, want 0 to %d", o.NumOps, maxListed)
	}
	if err := checkBins(o.Bins); err != nil {
		return err
	}
	if o.Magnitude < 0 || o.Magnitude >= o.Bins {
		return paramErr("magnitude is %d, want 0 to %d, a bin", o.Magnitude, o.Bins-1)
	}
	return o.how().validate()
}

// Infer keeps the description.
func (o *RandAugment) Infer(dst, in []tensor.Desc) error { return o.how().infer(dst, in) }

// Apply returns ErrNotDrawn.
func (o *RandAugment) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits up to NumOps ops.
func (o *RandAugment) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	for range o.NumOps {
		if err := o.how().emit(d, o.choose(d, h, w)); err != nil {
			return err
		}
	}
	return nil
}

// choose returns one augmentation for an image of h x w pixels.
func (o *RandAugment) choose(r augDraws, h, w int) augmented {
	a := augmented{what: augmentation(r.IntN(int(augInvert)))}
	if a.what.scaled() {
		a.magnitude = scaleOf.magnitude(a.what, o.Magnitude, o.Bins, h, w)
	}
	return a.negated(r)
}
