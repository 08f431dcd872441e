package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomPosterize keeps a random number of the most significant bits of every
// value. It takes the images of Posterize.
//
// Reference: MindSpore 2.10.0's RandomPosterize. The number of bits is drawn
// uniformly from the whole numbers of Bits. torchvision's RandomPosterize has a
// fixed number of bits: it is a RandomApply of Posterize.
type RandomPosterize struct {
	Bits Range `json:"bits"` // whole numbers of 0 to 8; default 8 to 8
}

//msgp:tuple RandomPosterize
//sheet:random_posterize {"bits": [1, 3]}

// NewRandomPosterize returns the op that keeps from lo to hi bits.
func NewRandomPosterize(lo, hi int) *RandomPosterize {
	return &RandomPosterize{Range{float64(lo), float64(hi)}}
}

// Info describes the op.
func (*RandomPosterize) Info() Info {
	return Info{
		Name: "random_posterize", Version: 1, New: func() Op { return NewRandomPosterize(8, 8) },
		Reference: mindsporeDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the range.
func (o *RandomPosterize) Validate() error { return o.Bits.checkWhole("bits", 0, 8) }

// Infer keeps the description.
func (o *RandomPosterize) Infer(dst, in []tensor.Desc) error {
	return (&Posterize{}).Infer(dst, in)
}

// Apply returns ErrNotDrawn.
func (o *RandomPosterize) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Posterize.
func (o *RandomPosterize) Draw(d *Draw) error {
	return emitOp(d, Posterize{o.Bits.drawWhole(d)})
}
