package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.PadToSize]{op: (*lowering).padToSize})
}

func (l *lowering) padToSize(o *transforms.PadToSize, out, in []value) error {
	x, y := in[0], &out[0]
	_, err := l.placed(o.Position, o.Mode, o.Fill, known(o.Height), known(o.Width), y, x)
	return err
}
