package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.ImageSize]{op: func(l *lowering, o *transforms.ImageSize, out, in []value) error {
		ay, ax, _ := axes(in[0].desc)
		out[0].name = l.vector(l.size(in[0], ay), l.size(in[0], ax))
		if o.DType != tensor.Int64 {
			out[0].name = l.cast(out[0].name, o.DType)
		}
		return nil
	}})
}
