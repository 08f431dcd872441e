package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomOrder does all of its ops, in random order. Each must keep the dtype and
// the layout.
//
// Reference: torchvision 0.29.2's RandomOrder: the order is drawn first, all as
// likely, then each op has its own draws.
type RandomOrder struct {
	Ops OpList `json:"ops"`
}

//msgp:tuple RandomOrder

func init() {
	Register(Info{
		Name: "random_order", Version: 1, New: func() Op { return NewRandomOrder(NewHorizontalFlip(), NewVerticalFlip()) },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomOrder does the ops in random order.
func NewRandomOrder(ops ...Op) *RandomOrder { return &RandomOrder{Ops: ops} }

func (o *RandomOrder) lists() []OpList { return []OpList{o.Ops} }

// Validate checks the ops.
func (o *RandomOrder) Validate() error { return o.Ops.check("ops") }

// Infer gives what is the same in every order.
func (o *RandomOrder) Infer(dst, in []tensor.Desc) (err error) {
	// What an op may find: its input, or that of any number of others. Every round
	// but the last makes a size unknown, of which there are not many.
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

// Apply is not for random ops.
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
