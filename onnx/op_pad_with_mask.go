package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.PadWithMask]{op: (*lowering).padWithMask})
}

// padWithMask pads the image, and a mask of ones in the same way.
func (l *lowering) padWithMask(o *transforms.PadWithMask, out, in []value) error {
	x := in[0]
	ay, ax, _ := axes(x.desc)
	have := [2]num{l.size(x, ay), l.size(x, ax)}
	want := have
	for i, n := range []int{o.Height, o.Width} {
		if n != 0 {
			want[i] = known(n)
		}
	}
	start, err := l.placed(o.Position, o.Mode, o.Fill, want[0], want[1], &out[0], x)
	if err != nil {
		return err
	}
	mask := l.op("Expand", nil, constOf(l.builder, "ones", []uint8{1}, 1, 1), l.vector(have[:]...))
	if want != have {
		var end [2]num
		for i := range end {
			end[i] = l.minus(l.minus(want[i], have[i]), start[i])
		}
		mask = l.op("Pad", []attr{{"mode", "constant"}}, mask, l.vector(start[0], start[1], end[0], end[1]), l.number(tensor.Uint8, 0))
	}
	if o.MaskDType != tensor.Uint8 {
		mask = l.cast(mask, o.MaskDType)
	}
	out[1].name = mask
	return nil
}
