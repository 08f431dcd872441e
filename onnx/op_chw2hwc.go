package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.CHW2HWC]{op: func(l *lowering, _ *transforms.CHW2HWC, out, in []value) error {
		out[0].name = l.toLayout(in[0].name, in[0].desc, tensor.HWC)
		return nil
	}})
}
