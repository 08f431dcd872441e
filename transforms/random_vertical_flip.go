package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomVerticalFlip mirrors an image top to bottom with a given probability;
// otherwise it does not change the image. It takes the dtypes and the layouts
// of VerticalFlip.
//
// Reference: torchvision 0.29.2's RandomVerticalFlip. One number of [0, 1) is
// drawn. If it is below the probability, the image is mirrored.
type RandomVerticalFlip struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
}

//msgp:tuple RandomVerticalFlip

// NewRandomVerticalFlip returns the op with probability 0.5.
func NewRandomVerticalFlip() *RandomVerticalFlip { return &RandomVerticalFlip{0.5} }

// Info describes the op.
func (*RandomVerticalFlip) Info() Info {
	return Info{
		Name: "random_vertical_flip", Version: 1, New: func() Op { return NewRandomVerticalFlip() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the probability.
func (o *RandomVerticalFlip) Validate() error { return checkProbability(o.Probability) }

// Infer keeps the description.
func (o *RandomVerticalFlip) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0])
}

// Apply returns ErrNotDrawn.
func (o *RandomVerticalFlip) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a VerticalFlip or nothing.
func (o *RandomVerticalFlip) Draw(d *Draw) error {
	if !d.Coin(o.Probability) {
		return nil
	}
	return d.Emit(NewOp[VerticalFlip](d))
}
