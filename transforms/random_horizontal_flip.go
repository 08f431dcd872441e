package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomHorizontalFlip mirrors an image left to right with a given probability;
// otherwise it does not change the image. It takes the dtypes and the layouts
// of HorizontalFlip.
//
// Reference: torchvision 0.29.2's RandomHorizontalFlip. One number of [0, 1) is
// drawn. If it is below the probability, the image is mirrored.
type RandomHorizontalFlip struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
}

//msgp:tuple RandomHorizontalFlip

// NewRandomHorizontalFlip returns the op with probability 0.5.
func NewRandomHorizontalFlip() *RandomHorizontalFlip { return &RandomHorizontalFlip{0.5} }

// Info describes the op.
func (*RandomHorizontalFlip) Info() Info {
	return Info{
		Name: "random_horizontal_flip", Version: 1, New: func() Op { return NewRandomHorizontalFlip() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the probability.
func (o *RandomHorizontalFlip) Validate() error { return checkProbability(o.Probability) }

// Infer keeps the description.
func (o *RandomHorizontalFlip) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantImage(in[0])
}

// Apply returns ErrNotDrawn.
func (o *RandomHorizontalFlip) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a HorizontalFlip or nothing.
func (o *RandomHorizontalFlip) Draw(d *Draw) error {
	if !d.Coin(o.Probability) {
		return nil
	}
	return d.Emit(NewOp[HorizontalFlip](d))
}

// checkProbability wants 0 to 1.
func checkProbability(p float64) error {
	if !(p >= 0 && p <= 1) {
		return paramErr("probability %v, want 0 to 1", p)
	}
	return nil
}
