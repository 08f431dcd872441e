package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// AugmentPolicy names the dataset for which a policy of AutoAugment was found.
type AugmentPolicy uint8

// The policies.
const (
	PolicyImageNet AugmentPolicy = iota
	PolicyCIFAR10
	PolicySVHN
)

var augmentPolicyNames = []string{"imagenet", "cifar10", "svhn"}

func (p AugmentPolicy) String() string { return enum.String("policy", augmentPolicyNames, p) }

// MarshalText returns the name.
func (p AugmentPolicy) MarshalText() ([]byte, error) {
	return enum.Format("policy", augmentPolicyNames, p)
}

// UnmarshalText parses the name.
func (p *AugmentPolicy) UnmarshalText(t []byte) error {
	return enum.Parse(p, "policy", augmentPolicyNames, t)
}

// AutoAugment runs one of the 25 pairs of augmentations of a policy. It takes a
// uint8 image of one or three channels, HWC or CHW, and keeps the description.
//
// The pair is drawn first. Then, for each of its augmentations, one number of
// [0, 1) is drawn. The augmentation runs if the number is not above its
// probability. The pair states the bin of its magnitude. There are ten bins.
// They range over shears of 0 to 0.3, translations of 0 to 150/331 of the side,
// rotations of 0 to 30 degrees, changes of a factor by 0 to 0.9, 8 to 4 bits of
// posterize, and thresholds of solarize from 255 to 0. Except for bits and
// thresholds, another number of [0, 1) is drawn: the magnitude is negated if it
// is at most 0.5.
//
// Masks, boxes and points move with the image. torchvision refuses samples that
// have them.
//
// Source: Cubuk et al., AutoAugment: Learning Augmentation Strategies from
// Data, CVPR 2019. Reference: torchvision 0.29.2's v2.AutoAugment: backend
// pillow for Pillow images, torch for tensors.
type AutoAugment struct {
	Policy        AugmentPolicy `json:"policy"`        // imagenet, cifar10 or svhn; default imagenet
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear or bicubic (pillow); default nearest
	Backend       Backend       `json:"backend"`       // pillow or torch; default pillow
	Fill          NumberList    `json:"fill"`          // see Affine; default empty
}

//msgp:tuple AutoAugment

// NewAutoAugment returns the op with Pillow's pixels and nearest.
func NewAutoAugment(policy AugmentPolicy) *AutoAugment {
	return &AutoAugment{Policy: policy, Interpolation: Nearest}
}

func (o *AutoAugment) how() augHow { return augHow{o.Interpolation, o.Backend, o.Fill} }

// Info describes the op.
func (*AutoAugment) Info() Info {
	return Info{
		Name: "auto_augment", Version: 1, New: func() Op { return NewAutoAugment(PolicyImageNet) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the policy and how pixels are computed.
func (o *AutoAugment) Validate() error {
	if err := checkEnum("policy", o.Policy, augmentPolicyNames); err != nil {
		return err
	}
	return o.how().validate()
}

// Infer keeps the description.
func (o *AutoAugment) Infer(dst, in []tensor.Desc) error { return o.how().infer(dst, in) }

// Apply returns ErrNotDrawn.
func (o *AutoAugment) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits up to two ops.
func (o *AutoAugment) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	chosen, n := o.choose(d, h, w)
	for _, a := range chosen[:n] {
		if err := o.how().emit(d, a); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the augmentations for an image of h x w pixels.
func (o *AutoAugment) choose(r augDraws, h, w int) (chosen [2]augmented, n int) {
	pair := &subpolicies[o.Policy][r.IntN(len(subpolicies[o.Policy]))]
	for _, p := range pair {
		if !(r.Float64() <= p.probability) {
			continue
		}
		a := augmented{what: p.what}
		if a.what.scaled() {
			a.magnitude = scaleOf.magnitude(a.what, p.bin, 10, h, w)
		}
		chosen[n] = a.negated(r)
		n++
	}
	return chosen, n
}
