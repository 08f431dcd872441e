package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomChoice runs one of its ops. All must return the same dtype and layout.
//
// Reference: torchvision 0.29.2's RandomChoice. An op is drawn with a
// probability proportional to its weight. A number of [0, 1) is multiplied by
// the sum of the weights. The weights are then subtracted in order until the
// number is below the next one.
type RandomChoice struct {
	Ops     OpList    `json:"ops"`     // 1 to 64 ops
	Weights []float64 `json:"weights"` // one per op, 0 to 1e30 and not all 0; default 1 each
}

//msgp:tuple RandomChoice

// NewRandomChoice returns the op with equal weights.
func NewRandomChoice(ops ...Op) *RandomChoice {
	o := &RandomChoice{Ops: ops, Weights: make([]float64, len(ops))}
	for i := range o.Weights {
		o.Weights[i] = 1
	}
	return o
}

func (o *RandomChoice) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*RandomChoice) Info() Info {
	return Info{
		Name: "random_choice", Version: 1, New: func() Op { return NewRandomChoice(NewHorizontalFlip(), NewVerticalFlip()) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the ops and the weights.
func (o *RandomChoice) Validate() error {
	if err := o.Ops.check("ops"); err != nil {
		return err
	}
	return checkWeights("weights", o.Weights, len(o.Ops))
}

// Infer describes what is common to the outputs of all ops.
func (o *RandomChoice) Infer(dst, in []tensor.Desc) (err error) {
	dst[0], err = o.Ops.inferAny(in[0])
	return err
}

// Apply returns ErrNotDrawn.
func (o *RandomChoice) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits one op.
func (o *RandomChoice) Draw(d *Draw) error {
	i := drawIndex(d, o.Weights)
	return o.Ops.emitAt(i, d)
}

// drawIndex draws an index with a probability proportional to its weight.
func drawIndex(d *Draw, weights []float64) int {
	v := float64(d.Float64() * sum(weights))
	last := 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if v < w {
			return i
		}
		v -= w
		last = i
	}
	return last
}
