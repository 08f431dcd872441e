package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.ToType]{op: (*lowering).toType})
}

func (l *lowering) toType(o *transforms.ToType, out, in []value) error {
	x, y := in[0], &out[0]
	from, to := x.desc.DType, o.DType
	switch {
	case from == to:
		y.name = x.name
	case holdsAll(to, from):
		y.name = l.cast(x.name, to)
	case from == tensor.Uint8:
		return l.table(o, y, x)
	case from != tensor.Float32:
		return l.refuse("%v to %v: runtimes differ for values out of range", from, to)
	case to == tensor.Float16 || to == tensor.BFloat16: // both round half to even
		y.name = l.cast(x.name, to)
	case to == tensor.Int64 || to == tensor.Bool || o.Rule > transforms.CastSaturate:
		return l.refuse("%v to %v: ONNX does not define the result for values out of range", from, to)
	default:
		// Cast does not define the result for NaN and values out of range:
		// replace them first.
		wide := l.cast(x.name, tensor.Float64)
		zero := constOf(l.builder, "double", []float64{0})
		wide = l.op("Where", nil, l.op("IsNaN", nil, x.name), zero, wide)
		if o.Rule == transforms.CastSaturate {
			wide = l.op("Round", nil, wide)
		}
		lo, hi := limits(to)
		wide = l.op("Clip", nil, wide, constOf(l.builder, "double", []float64{lo}), constOf(l.builder, "double", []float64{hi}))
		y.name = l.cast(wide, to)
	}
	return nil
}

// holdsAll reports whether to holds every value of from exactly.
func holdsAll(to, from tensor.DType) bool {
	bits := map[tensor.DType]int{ // the bits of a value, including its sign
		tensor.Bool: 1, tensor.Uint8: 8, tensor.Int8: 8, tensor.Uint16: 16, tensor.Int16: 16, tensor.Int32: 32, tensor.Int64: 64,
	}
	n, integer := bits[from]
	m, toInteger := bits[to]
	signed := from == tensor.Int8 || from == tensor.Int16 || from == tensor.Int32 || from == tensor.Int64
	toSigned := to == tensor.Int8 || to == tensor.Int16 || to == tensor.Int32 || to == tensor.Int64
	switch {
	case to == from:
		return true
	case to == tensor.Bool:
		return false
	case integer && toInteger:
		return signed == toSigned && n <= m || !signed && toSigned && n < m
	case integer:
		return n <= map[tensor.DType]int{tensor.BFloat16: 8, tensor.Float16: 11, tensor.Float32: 24, tensor.Float64: 53}[to]
	}
	return to == tensor.Float64 || to == tensor.Float32 && (from == tensor.Float16 || from == tensor.BFloat16)
}
