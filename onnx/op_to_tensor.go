package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.ToTensor]{op: func(l *lowering, _ *transforms.ToTensor, out, in []value) error {
		x := in[0]
		out[0].name = l.toLayout(l.op("Div", nil, l.cast(x.name, tensor.Float32), l.float(255)), x.desc, tensor.CHW)
		return nil
	}})
}
