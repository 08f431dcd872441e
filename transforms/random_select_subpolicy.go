package transforms

import (
	"fmt"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomSelectSubpolicy does one of several lists of ops, all as likely, and of it each op
// with a probability of its own. All ops must keep the dtype and the layout.
//
// Reference: MindSpore 2.10.0's RandomSelectSubpolicy. The list is drawn first, then for each
// of its ops in order one number of [0, 1), and it is done, with its own draws, if that is below its probability.
type RandomSelectSubpolicy struct {
	Policies      []OpList    `json:"policies"`      // 1 to 64
	Probabilities [][]float64 `json:"probabilities"` // 0 to 1, for each op of each policy
}

//msgp:tuple RandomSelectSubpolicy

func init() {
	Register(Info{
		Name: "random_select_subpolicy", Version: 1, New: func() Op {
			return NewRandomSelectSubpolicy().Policy([]float64{0.5}, NewHorizontalFlip())
		},
		Reference: "MindSpore 2.10.0 vision.RandomSelectSubpolicy, of its choices the distribution", Exactness: randomExactness,
	})
}

// NewRandomSelectSubpolicy has no policy yet, which is not valid; see Policy.
func NewRandomSelectSubpolicy() *RandomSelectSubpolicy { return &RandomSelectSubpolicy{} }

// Policy adds a list of ops with their probabilities, and returns the op.
func (o *RandomSelectSubpolicy) Policy(probabilities []float64, ops ...Op) *RandomSelectSubpolicy {
	o.Policies = append(o.Policies, ops)
	o.Probabilities = append(o.Probabilities, probabilities)
	return o
}

func (o *RandomSelectSubpolicy) lists() []OpList { return o.Policies }

// Validate checks the policies.
func (o *RandomSelectSubpolicy) Validate() error {
	if n := len(o.Policies); n < 1 || n > maxListed {
		return paramErr("policies has %d lists, want 1 to %d", n, maxListed)
	}
	if len(o.Probabilities) != len(o.Policies) {
		return paramErr("probabilities has %d lists, want %d, one for each policy", len(o.Probabilities), len(o.Policies))
	}
	for i, l := range o.Policies {
		if err := l.check(fmt.Sprintf("policies[%d]", i)); err != nil {
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

// Infer gives what is the same with every policy, and with and without each op.
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
				return fmt.Errorf("policy %d: %w", i, err)
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

// Apply is not for random ops.
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
