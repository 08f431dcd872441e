package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.Normalize]{op: func(l *lowering, o *transforms.Normalize, out, in []value) error {
		out[0].name = l.normalize(in[0].name, in[0].desc, o.Mean, o.Std)
		return nil
	}})
}

func (l *lowering) normalize(x string, d tensor.Desc, mean, std []float64) string {
	return l.op("Div", nil, l.op("Sub", nil, x, l.floats(d, mean)), l.floats(d, std))
}
