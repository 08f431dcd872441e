package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.NormalizePad]{op: (*lowering).normalizePad})
}

// normalizePad normalises, then appends the channel.
func (l *lowering) normalizePad(o *transforms.NormalizePad, out, in []value) error {
	x, y := in[0], &out[0]
	name := l.normalize(l.toFloat32(x), x.desc, o.Mean, o.Std)
	if o.DType == tensor.Float16 {
		name = l.cast(name, tensor.Float16)
	}
	_, _, c := axes(x.desc)
	var after [3]num
	after[c] = known(1)
	y.name = l.padOp(name, "constant", [3]num{}, after, l.number(y.desc.DType, 0))
	return nil
}
