package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.Pad]{op: (*lowering).pad})
}

// pad adds a border.
func (l *lowering) pad(o *transforms.Pad, out, in []value) error {
	x, y := in[0], &out[0]
	ay, ax, _ := axes(x.desc)
	if o.Mode == transforms.PadConstant {
		h, w := l.plus(l.size(x, ay), known(o.Top+o.Bottom)), l.plus(l.size(x, ax), known(o.Left+o.Right))
		return l.window(y, x, known(-o.Top), known(-o.Left), h, w, o.Fill)
	}
	return l.reflected(o.Mode, y, x, [2]int{o.Top, o.Left}, [2]int{o.Bottom, o.Right})
}
