package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomVerticalFlip mirrors an image top to bottom with a probability, and
// leaves it as it is otherwise. Dtypes and layouts are those of VerticalFlip.
//
// Reference: torchvision 0.29.2's RandomVerticalFlip: one number of [0, 1) is
// drawn, and the image is mirrored if it is below the probability.
type RandomVerticalFlip struct {
	Probability float64 `json:"probability"` // 0 to 1, usually 0.5
}

//msgp:tuple RandomVerticalFlip

func init() {
	Register(Info{
		Name: "random_vertical_flip", Version: 1, New: func() Op { return NewRandomVerticalFlip() },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomVerticalFlip makes the op with probability 0.5.
func NewRandomVerticalFlip() *RandomVerticalFlip { return &RandomVerticalFlip{0.5} }

// Validate wants a probability.
func (o *RandomVerticalFlip) Validate() error { return checkProbability(o.Probability) }

// Infer keeps the description.
func (o *RandomVerticalFlip) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0])
}

// Apply is not for random ops.
func (o *RandomVerticalFlip) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a VerticalFlip or nothing.
func (o *RandomVerticalFlip) Draw(d *Draw) error {
	if !d.Coin(o.Probability) {
		return nil
	}
	return d.Emit(Make[VerticalFlip](d))
}
