package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.Crop]{crops: true, op: func(l *lowering, o *transforms.Crop, out, in []value) error {
		return l.window(&out[0], in[0], known(o.Top), known(o.Left), known(o.Height), known(o.Width), []float64{0})
	}})
}
