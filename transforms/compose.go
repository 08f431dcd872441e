package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Compose runs its ops one after the other. Use it for lists inside other ops,
// such as RandomChoice; a graph has steps instead. Only an engine that supports
// random ops runs it, even if none of its ops is random.
//
// Reference: torchvision 0.29.2's Compose.
type Compose struct {
	Ops OpList `json:"ops"` // 1 to 64 ops
}

//msgp:tuple Compose

// NewCompose returns an op that runs the ops in order.
func NewCompose(ops ...Op) *Compose { return &Compose{Ops: ops} }

func (o *Compose) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*Compose) Info() Info {
	return Info{
		Name: "compose", Version: 1, New: func() Op { return NewCompose(NewHorizontalFlip()) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the ops.
func (o *Compose) Validate() error { return o.Ops.check("ops") }

// Infer chains the ops' descriptions.
func (o *Compose) Infer(dst, in []tensor.Desc) (err error) {
	dst[0], err = o.Ops.infer(in[0])
	return err
}

// Apply returns ErrNotDrawn.
func (o *Compose) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits the ops.
func (o *Compose) Draw(d *Draw) error { return o.Ops.emit(d) }
