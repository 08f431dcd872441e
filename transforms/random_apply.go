package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomApply runs all of its ops with a given probability; otherwise it does
// not change the image. The ops must keep the dtype and the layout.
//
// Reference: torchvision 0.29.2's RandomApply. One number of [0, 1) is drawn.
// If it is below the probability, the ops run in order, each with its own
// draws. torchvision's RandomAdjustSharpness, RandomAutocontrast,
// RandomEqualize, RandomInvert, RandomPosterize and RandomSolarize are a
// RandomApply of one op each, as are MindSpore's RandomAdjustSharpness,
// RandomAutoContrast, RandomEqualize and RandomInvert.
type RandomApply struct {
	Ops         OpList  `json:"ops"`         // 1 to 64 ops
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
}

//msgp:tuple RandomApply

// NewRandomApply returns the op.
func NewRandomApply(probability float64, ops ...Op) *RandomApply {
	return &RandomApply{Ops: ops, Probability: probability}
}

func (o *RandomApply) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*RandomApply) Info() Info {
	return Info{
		Name: "random_apply", Version: 1, New: func() Op { return NewRandomApply(0.5, NewHorizontalFlip()) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the probability and the ops.
func (o *RandomApply) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	return o.Ops.check("ops")
}

// Infer describes what is common to the outputs with and without the ops.
func (o *RandomApply) Infer(dst, in []tensor.Desc) error {
	out, err := o.Ops.infer(in[0])
	if err != nil {
		return err
	}
	dst[0], err = either(out, in[0])
	return err
}

// Apply returns ErrNotDrawn.
func (o *RandomApply) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits the ops or nothing.
func (o *RandomApply) Draw(d *Draw) error {
	if !d.Coin(o.Probability) {
		return nil
	}
	return o.Ops.emit(d)
}
