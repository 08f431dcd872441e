package transforms

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// FeedbackPolicy runs one of several lists of ops, whose weights a training
// program changes between epochs: by SetWeights of a run of package dataset. So
// the augmentation can follow the losses or the accuracy of the training. All
// lists must return the same dtype and layout.
//
// One number of [0, 1) is drawn; it chooses a list with a probability
// proportional to its weight, as in RandomChoice. Then the list runs, with its
// own draws. PolicyIndex returns which one it was. Without a training program
// the weights are those of the op.
//
// Reference: torchvision 0.29.2's RandomChoice, for the draw. The idea is that
// of MindSpore 2.10.0's WaitedDSCallback, which lets the training change what
// an op does.
type FeedbackPolicy struct {
	Name     PolicyName `json:"name"`     // of 1 to 64 letters, digits, '_', '-' and '.'; policies of one name share their weights
	Policies []OpList   `json:"policies"` // 1 to 64
	Weights  []float64  `json:"weights"`  // one per policy at the start, 0 to 1e30 and not all 0; default 1 each
}

//msgp:tuple FeedbackPolicy

// NewFeedbackPolicy returns the op without policies. It is valid once Policy
// has added one.
func NewFeedbackPolicy(name PolicyName) *FeedbackPolicy { return &FeedbackPolicy{Name: name} }

// Policy adds a list of ops with its weight and returns the op.
func (o *FeedbackPolicy) Policy(weight float64, ops ...Op) *FeedbackPolicy {
	o.Policies, o.Weights = append(o.Policies, ops), append(o.Weights, weight)
	return o
}

func (o *FeedbackPolicy) lists() []OpList { return o.Policies }

// Info describes the op.
func (*FeedbackPolicy) Info() Info {
	return Info{
		Name: "feedback_policy", Version: 1, New: func() Op {
			return NewFeedbackPolicy("policy").Policy(1, NewHorizontalFlip()).Policy(1, NewVerticalFlip())
		},
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the name, the policies and the weights.
func (o *FeedbackPolicy) Validate() error {
	if err := o.Name.check(); err != nil {
		return err
	}
	if n := len(o.Policies); n < 1 || n > maxListed {
		return paramErr("policies has %d lists, want 1 to %d", n, maxListed)
	}
	for i, l := range o.Policies {
		if err := l.check(errfmt.Sprintf("policies[%d]", i)); err != nil {
			return err
		}
	}
	return o.CheckWeights(o.Weights)
}

// CheckWeights returns an error, which wraps ErrParam, unless the weights are
// valid for the policies of o.
func (o *FeedbackPolicy) CheckWeights(weights []float64) error {
	return checkWeights("weights", weights, len(o.Policies))
}

// Infer describes what is common to the outputs of all policies.
func (o *FeedbackPolicy) Infer(dst, in []tensor.Desc) error {
	first := in[0]
	for i, l := range o.Policies {
		d, err := l.infer(first)
		if err != nil {
			return errfmt.Errorf("policy %d: %w", i, err)
		}
		if i > 0 {
			if d, err = either(dst[0], d); err != nil {
				return err
			}
		}
		dst[0] = d
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *FeedbackPolicy) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits the ops of one policy.
func (o *FeedbackPolicy) Draw(d *Draw) error {
	w, ok := d.Weights[string(o.Name)]
	if !ok {
		w = o.Weights
	} else if err := o.CheckWeights(w); err != nil {
		return errfmt.Errorf("the training's weights of %q: %w", string(o.Name), err)
	}
	i := drawIndex(d, w)
	d.picks = append(d.picks, pick{o.Name, i})
	return o.Policies[i].emit(d)
}

// pick is the choice of a FeedbackPolicy.
type pick struct {
	name  PolicyName
	index int
}

// FeedbackPolicies returns the feedback policies among ops and, at any depth,
// in their lists.
func FeedbackPolicies(ops ...Op) (l []*FeedbackPolicy) {
	for _, op := range ops {
		if p, ok := op.(*FeedbackPolicy); ok {
			l = append(l, p)
		}
		if n, ok := op.(nested); ok {
			for _, inner := range n.lists() {
				l = append(l, FeedbackPolicies(inner...)...)
			}
		}
	}
	return l
}
