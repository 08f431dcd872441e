package transforms

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomSelectSubpolicy runs one of several policies. A policy is a list of
// ops, each with its own probability. All policies are equally likely. All ops
// must keep the dtype and the layout.
//
// Reference: MindSpore 2.10.0's RandomSelectSubpolicy. The policy is drawn
// first. Then one number of [0, 1) is drawn for each of its ops, in order. The
// op runs, with its own draws, if the number is below its probability.
type RandomSelectSubpolicy struct {
	Policies      []OpList    `json:"policies"`      // 1 to 64
	Probabilities [][]float64 `json:"probabilities"` // 0 to 1, one per op of each policy
}

//msgp:tuple RandomSelectSubpolicy

// NewRandomSelectSubpolicy returns the op without policies. It is valid once
// Policy has added one.
func NewRandomSelectSubpolicy() *RandomSelectSubpolicy { return &RandomSelectSubpolicy{} }

// Policy adds a list of ops with their probabilities and returns the op.
func (o *RandomSelectSubpolicy) Policy(probabilities []float64, ops ...Op) *RandomSelectSubpolicy {
	o.Policies = append(o.Policies, ops)
	o.Probabilities = append(o.Probabilities, probabilities)
	return o
}

func (o *RandomSelectSubpolicy) lists() []OpList { return o.Policies }

// Info describes the op.
func (*RandomSelectSubpolicy) Info() Info {
	return Info{
		Name: "random_select_subpolicy", Version: 1, New: func() Op {
			return NewRandomSelectSubpolicy().Policy([]float64{0.5}, NewHorizontalFlip())
		},
		Reference: "MindSpore 2.10.0 vision.RandomSelectSubpolicy (distribution of the choices)", Exactness: randomExactness,
	}
}

// Validate checks the policies.
func (o *RandomSelectSubpolicy) Validate() error {
	if n := len(o.Policies); n < 1 || n > maxListed {
		return paramErr("policies has %d lists, want 1 to %d", n, maxListed)
	}
	if len(o.Probabilities) != len(o.Policies) {
		return paramErr("probabilities has %d lists, want %d, one for each policy", len(o.Probabilities), len(o.Policies))
	}
	for i, l := range o.Policies {
		if err := l.check(errfmt.Sprintf("policies[%d]", i)); err != nil {
			return err
		}
		if len(o.Probabilities[i]) != len(l) {
			return paramErr("probabilities[%d] has %d values, want %d, one for each op", i, len(o.Probabilities[i]), len(l))
		}
		for _, p := range o.Probabilities[i] {
			if err := checkProbability(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// Infer describes what is common to the outputs of all policies, with and
// without each op.
func (o *RandomSelectSubpolicy) Infer(dst, in []tensor.Desc) error {
	first := in[0]
	for i, l := range o.Policies {
		d := first
		for k := range l {
			out, err := l.inferAt(k, d)
			if err == nil {
				d, err = either(d, out)
			}
			if err != nil {
				return errfmt.Errorf("policy %d: %w", i, err)
			}
		}
		if i > 0 {
			var err error
			if d, err = either(dst[0], d); err != nil {
				return err
			}
		}
		dst[0] = d
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomSelectSubpolicy) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits ops of one policy.
func (o *RandomSelectSubpolicy) Draw(d *Draw) error {
	i := d.IntN(len(o.Policies))
	l := o.Policies[i]
	for k, p := range o.Probabilities[i] {
		if !d.Coin(p) {
			continue
		}
		if err := l.emitAt(k, d); err != nil {
			return err
		}
	}
	return nil
}
