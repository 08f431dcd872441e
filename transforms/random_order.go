package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomOrder runs all of its ops in random order. Each op must keep the dtype
// and the layout.
//
// Reference: torchvision 0.29.2's RandomOrder. The order is drawn first,
// uniformly; then each op has its own draws.
type RandomOrder struct {
	Ops OpList `json:"ops"` // 1 to 64 ops
}

//msgp:tuple RandomOrder

// NewRandomOrder returns the op.
func NewRandomOrder(ops ...Op) *RandomOrder { return &RandomOrder{Ops: ops} }

func (o *RandomOrder) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*RandomOrder) Info() Info {
	return Info{
		Name: "random_order", Version: 1, New: func() Op { return NewRandomOrder(NewHorizontalFlip(), NewVerticalFlip()) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the ops.
func (o *RandomOrder) Validate() error { return o.Ops.check("ops") }

// Infer describes what is common to the outputs of all orders.
func (o *RandomOrder) Infer(dst, in []tensor.Desc) (err error) {
	// any describes the input of an op: in[0], or the output of any ops before
	// it. Each round but the last makes a size unknown, so there are few
	// rounds.
	any := in[0]
	for {
		before := any
		for i := range o.Ops {
			out, err := o.Ops.inferAt(i, before)
			if err == nil {
				any, err = either(any, out)
			}
			if err != nil {
				return err
			}
		}
		if any == before {
			break
		}
	}
	dst[0], err = o.Ops.inferAny(any)
	return err
}

// Apply returns ErrNotDrawn.
func (o *RandomOrder) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits all ops.
func (o *RandomOrder) Draw(d *Draw) error {
	var all [maxListed]uint8
	order := all[:len(o.Ops)]
	d.permute(order)
	for _, i := range order {
		if err := o.Ops.emitAt(int(i), d); err != nil {
			return err
		}
	}
	return nil
}
