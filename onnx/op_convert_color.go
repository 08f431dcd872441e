package onnx

import (
	"slices"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.ConvertColor]{op: (*lowering).convertColor})
}

// convertColor reorders channels.
func (l *lowering) convertColor(o *transforms.ConvertColor, out, in []value) error {
	x, y := in[0], &out[0]
	orders := map[transforms.ColorSpace][]int64{ // red is 0
		transforms.RGB: {0, 1, 2}, transforms.BGR: {2, 1, 0}, transforms.RGBA: {0, 1, 2, 3}, transforms.BGRA: {2, 1, 0, 3},
	}
	from, to := orders[o.From], orders[o.To]
	if o.From == o.To {
		y.name = x.name
		return nil
	}
	if from == nil || to == nil || len(to) > len(from) {
		return l.refuse("%v to %v is not a reordering of channels", o.From, o.To)
	}
	index := make([]int64, len(to))
	for i, c := range to {
		index[i] = int64(slices.Index(from, c))
	}
	_, _, c := axes(x.desc)
	y.name = l.op("Gather", []attr{{"axis", int64(c)}}, x.name, l.ints(index...))
	return nil
}
