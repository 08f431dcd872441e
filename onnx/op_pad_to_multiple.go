package onnx

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	register(emitter[*transforms.PadToMultiple]{op: (*lowering).padToMultiple})
}

func (l *lowering) padToMultiple(o *transforms.PadToMultiple, out, in []value) error {
	x, y := in[0], &out[0]
	if o.Next {
		return l.refuse("parameter next has no operators")
	}
	ay, ax, _ := axes(x.desc)
	up := func(n num) num { return l.plus(n, l.mod(l.minus(known(0), n), known(o.Multiple))) }
	_, err := l.placed(o.Position, o.Mode, o.Fill, up(l.size(x, ay)), up(l.size(x, ax)), y, x)
	return err
}
