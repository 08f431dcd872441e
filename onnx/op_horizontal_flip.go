package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.HorizontalFlip]{op: func(l *lowering, _ *transforms.HorizontalFlip, out, in []value) error {
		_, w, _ := axes(in[0].desc)
		out[0].name = l.flip(in[0].name, w)
		return nil
	}})
}
