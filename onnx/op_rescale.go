package onnx

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.Rescale]{op: (*lowering).rescale})
}

func (l *lowering) rescale(o *transforms.Rescale, out, in []value) error {
	x, y := in[0], &out[0]
	kind, scale := "Mul", float32(o.Scale)
	switch x.desc.DType {
	case tensor.Uint8:
		// transformers multiplies in float64. For common scales one of the
		// float32 operations has the same result for all 256 values.
		t, err := runTable(o, tensor.Image(tensor.Uint8, tensor.HWC, 256, 1, 1))
		if err != nil {
			return l.refuse("%v", err)
		}
		equal := func(of func(v float32) float32) bool {
			for v, want := range tensor.View[float32](t) {
				f := of(float32(v))
				if o.Offset != 0 {
					f += float32(o.Offset)
				}
				if math.Float32bits(f) != math.Float32bits(want) {
					return false
				}
			}
			return true
		}
		inverse := float32(1 / o.Scale)
		switch {
		case equal(func(v float32) float32 { return v / scale }): // RescaleDivide
			kind = "Div"
		case equal(func(v float32) float32 { return v / inverse }):
			kind, scale = "Div", inverse
		case equal(func(v float32) float32 { return float32(v * scale) }):
		default:
			return l.table(o, y, x)
		}
	case tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Float16, tensor.BFloat16, tensor.Float32:
		// float32 holds every value of these dtypes exactly.
		switch o.Rule {
		case transforms.RescaleHF:
			kind = ""
		case transforms.RescaleMultiply:
		case transforms.RescaleDivide:
			kind = "Div"
		default:
			return l.refuse("rule %v of %v", o.Rule, x.desc.DType)
		}
	default:
		return l.refuse("the input is %v", x.desc.DType)
	}
	var name string
	if kind == "" {
		scale := constOf(l.builder, "double", []float64{o.Scale})
		name = l.cast(l.op("Mul", nil, l.cast(x.name, tensor.Float64), scale), tensor.Float32)
	} else {
		name = l.op(kind, nil, l.toFloat32(x), l.float(float64(scale)))
	}
	if o.Offset != 0 {
		name = l.op("Add", nil, name, l.float(o.Offset))
	}
	y.name = name
	return nil
}
