package transforms

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// UniformAugment chooses NumOps different ones of its ops, uniformly, and runs
// each of them with a probability of 1/2, in their order. All ops must keep the
// dtype and the layout.
//
// Source: LingChen et al., UniformAugment: A Search-free Probabilistic Data
// Augmentation Approach, 2020. Reference: MindSpore 2.10.0's UniformAugment.
type UniformAugment struct {
	Ops    OpList `json:"ops"`     // 1 to 64 ops
	NumOps int    `json:"num_ops"` // ops to choose, 1 to their number; default 2
}

//msgp:tuple UniformAugment

// NewUniformAugment returns the op.
func NewUniformAugment(numOps int, ops ...Op) *UniformAugment { return &UniformAugment{ops, numOps} }

func (o *UniformAugment) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*UniformAugment) Info() Info {
	return Info{
		Name: "uniform_augment", Version: 1, New: func() Op { return NewUniformAugment(2, NewHorizontalFlip(), NewVerticalFlip(), NewInvert()) },
		Reference: "MindSpore 2.10.0 vision.UniformAugment (distribution of the choices)", Exactness: randomExactness,
	}
}

// Validate checks the ops and their number.
func (o *UniformAugment) Validate() error {
	if err := o.Ops.check("ops"); err != nil {
		return err
	}
	if o.NumOps < 1 || o.NumOps > len(o.Ops) {
		return paramErr("num_ops is %d, want 1 to %d, the number of ops", o.NumOps, len(o.Ops))
	}
	return nil
}

// Infer describes what is common to the outputs with and without each op.
func (o *UniformAugment) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	for i := range o.Ops {
		out, err := o.Ops.inferAt(i, d)
		if err == nil {
			d, err = either(d, out)
		}
		if err != nil {
			return errfmt.Errorf("op %d: %w", i, err)
		}
	}
	dst[0] = d
	return nil
}

// Apply returns ErrNotDrawn.
func (o *UniformAugment) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits up to NumOps ops.
func (o *UniformAugment) Draw(d *Draw) error {
	left := o.NumOps
	for i := range o.Ops {
		if d.IntN(len(o.Ops)-i) >= left {
			continue
		}
		left--
		if !d.Coin(0.5) {
			continue
		}
		if err := o.Ops.emitAt(i, d); err != nil {
			return err
		}
	}
	return nil
}
