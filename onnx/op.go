package onnx

import (
	"reflect"

	"github.com/infer-prep/infer-prep/transforms"
)

// emitter describes how the ops of one type become operators. The file
// op_NAME.go of an op registers its emitter. An op without one is lowered by
// the interface of package transforms that it implements, or not at all.
type emitter[O transforms.Op] struct {
	// op lowers the op: it sets the names of out, whose descriptions are known.
	// Nil leaves the op to its interface.
	op func(l *lowering, o O, out, in []value) error
	// crops reports whether the host runs the op before a Tail.
	crops bool
	// cut returns the part of x that a transforms.Scaled scales. It reads no
	// size. HostTaps needs it.
	cut func(l *lowering, o O, x value) (value, error)
	// anySize lowers a transforms.Scaled for images of any size, in form Fast.
	anySize func(l *lowering, o O, out []value, x value) error
}

var emitters = map[reflect.Type]emitter[transforms.Op]{}

// register adds the emitter of a type, from an init function.
func register[O transforms.Op](e emitter[O]) {
	g := emitter[transforms.Op]{crops: e.crops}
	if e.op != nil {
		g.op = func(l *lowering, o transforms.Op, out, in []value) error { return e.op(l, o.(O), out, in) }
	}
	if e.cut != nil {
		g.cut = func(l *lowering, o transforms.Op, x value) (value, error) { return e.cut(l, o.(O), x) }
	}
	if e.anySize != nil {
		g.anySize = func(l *lowering, o transforms.Op, out []value, x value) error { return e.anySize(l, o.(O), out, x) }
	}
	emitters[reflect.TypeFor[O]()] = g
}

func emitterOf(op transforms.Op) emitter[transforms.Op] { return emitters[reflect.TypeOf(op)] }

// lowerOp lowers an op. It sets the names of out, whose descriptions are known.
func (l *lowering) lowerOp(op transforms.Op, out, in []value) error {
	if e := emitterOf(op); e.op != nil {
		return e.op(l, op, out, in)
	}
	switch o := op.(type) {
	case transforms.Scaled:
		return l.scaled(o, out, in[0])
	case transforms.Framed:
		return l.framed(o, &out[0], in[0])
	case transforms.Pointwise:
		return l.table(o, &out[0], in[0])
	}
	return l.refuse("no operators for this op")
}
