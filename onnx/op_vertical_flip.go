package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.VerticalFlip]{op: func(l *lowering, _ *transforms.VerticalFlip, out, in []value) error {
		h, _, _ := axes(in[0].desc)
		out[0].name = l.flip(in[0].name, h)
		return nil
	}})
}
