package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.Quantize]{op: (*lowering).quantize})
}

// quantize lowers to QuantizeLinear for 8 bits. For 16 bits, which the operator
// supports from opset 21 on, it adds the operator's steps one by one.
func (l *lowering) quantize(o *transforms.Quantize, out, in []value) error {
	x, y := in[0], &out[0]
	n := max(len(o.Scale), len(o.ZeroPoint))
	at := func(i, n int) int { return min(i, n-1) }
	scale, zero := make([]float64, n), make([]float64, n)
	for i := range n {
		scale[i], zero[i] = o.Scale[at(i, len(o.Scale))], float64(o.ZeroPoint[at(i, len(o.ZeroPoint))])
	}
	if o.DType == tensor.Uint8 || o.DType == tensor.Int8 {
		var attrs []attr
		var dims []int
		if n > 1 {
			_, _, c := axes(x.desc)
			attrs, dims = []attr{{"axis", int64(c)}}, []int{n}
		}
		y.name = l.op("QuantizeLinear", attrs, x.name, constOf(l.builder, "scale", float32s(scale), dims...), l.numbers(o.DType, zero, dims...))
		return nil
	}
	name := l.op("Round", nil, l.op("Div", nil, x.name, l.floats(x.desc, scale)))
	name = l.op("Add", nil, name, l.floats(x.desc, zero))
	lo, hi := limits(o.DType)
	y.name = l.cast(l.op("Clip", nil, name, l.float(lo), l.float(hi)), o.DType)
	return nil
}
