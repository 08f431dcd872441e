package diff

import (
	"reflect"

	"github.com/infer-prep/infer-prep/transforms"
)

// filter is how an op resizes.
type filter struct {
	interpolation transforms.Interpolation
	backend       transforms.Backend
	noAntialias   bool
}

// resizer describes how the ops of one type resize. The file op_NAME.go of an
// op registers its resizer.
type resizer[O transforms.Op] struct {
	// whole reports whether the op resizes the whole image, so that changes of
	// sizes replace it.
	whole  bool
	filter func(o O) filter
	// set sets the filter, but for parameters that the op lacks. Nil if it is
	// fixed.
	set func(o O, f filter)
}

var resizers = map[reflect.Type]resizer[transforms.Op]{}

// register adds the resizer of a type, from an init function.
func register[O transforms.Op](r resizer[O]) {
	g := resizer[transforms.Op]{whole: r.whole, filter: func(o transforms.Op) filter { return r.filter(o.(O)) }}
	if r.set != nil {
		g.set = func(o transforms.Op, f filter) { r.set(o.(O), f) }
	}
	resizers[reflect.TypeFor[O]()] = g
}

// isResize reports whether op resizes the whole image.
func isResize(op transforms.Op) bool { return resizers[reflect.TypeOf(op)].whole }

// setFilter sets the filter of an op. It reports whether that changed the op,
// and does nothing unless the op then has the filter f.
func setFilter(op transforms.Op, f filter) bool {
	r := resizers[reflect.TypeOf(op)]
	if r.set == nil {
		return false
	}
	was := r.filter(op)
	r.set(op, f)
	if r.filter(op) != f {
		r.set(op, was)
	}
	return r.filter(op) != was
}
