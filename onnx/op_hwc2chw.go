package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.HWC2CHW]{op: func(l *lowering, _ *transforms.HWC2CHW, out, in []value) error {
		out[0].name = l.toLayout(in[0].name, in[0].desc, tensor.CHW)
		return nil
	}})
}
