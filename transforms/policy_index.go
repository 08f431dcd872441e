package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PolicyIndex returns the index of the list that a FeedbackPolicy chose for the
// sample: an int32 without axes. It takes any tensor and does not read it. Its
// step comes after that of the policy, in the same graph. The index is -1 if
// the policy was not drawn, such as inside a RandomApply that did nothing. With
// several policies of the name it is the index of the last one.
//
// Reference: none; the index is part of this project's FeedbackPolicy.
type PolicyIndex struct {
	Name PolicyName `json:"name"` // of the policy: 1 to 64 letters, digits, '_', '-' and '.'
}

//msgp:tuple PolicyIndex

// NewPolicyIndex returns the op for the policy of this name.
func NewPolicyIndex(name PolicyName) *PolicyIndex { return &PolicyIndex{name} }

var policyColumn = []string{"policy"}

// Info describes the op.
func (*PolicyIndex) Info() Info {
	return Info{
		Name: "policy_index", Version: 1, New: func() Op { return NewPolicyIndex("policy") },
		Out:       policyColumn,
		Reference: "infer-prep", Exactness: "0",
	}
}

// Validate checks the name.
func (o *PolicyIndex) Validate() error { return o.Name.check() }

// Infer describes one number.
func (o *PolicyIndex) Infer(dst, in []tensor.Desc) error {
	c := Constant{DType: tensor.Int32}
	return c.Infer(dst, in)
}

// Apply returns ErrNotDrawn.
func (o *PolicyIndex) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a Constant. It draws no number.
func (o *PolicyIndex) Draw(d *Draw) error {
	index := -1
	for _, p := range d.picks {
		if p.name == o.Name {
			index = p.index
		}
	}
	return emitOp(d, Constant{Value: float64(index), DType: tensor.Int32})
}
