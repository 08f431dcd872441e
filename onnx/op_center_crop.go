package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.CenterCrop]{crops: true, op: (*lowering).centerCrop})
}

// centerCrop crops the centre. The model computes the position if the size is
// unknown.
func (l *lowering) centerCrop(o *transforms.CenterCrop, out, in []value) error {
	x, y := in[0], &out[0]
	ay, ax, _ := axes(x.desc)
	return l.window(y, x, l.centre(o, l.size(x, ay), o.Height), l.centre(o, l.size(x, ax), o.Width), known(o.Height), known(o.Width), o.Fill)
}

// centre returns the start of a centred window of n pixels; see
// transforms.CropRounding.
func (l *lowering) centre(o *transforms.CenterCrop, size num, n int) num {
	if size.name == "" {
		f := o.Frame(int(size.v), int(size.v))
		if n == o.Height {
			return known(f.Top)
		}
		return known(f.Left)
	}
	d := l.minus(size, known(n))
	odd := l.mod(d, known(2))
	half := l.over(l.minus(d, odd), known(2)) // rounded down
	switch o.CropRounding {
	case transforms.CropFloor:
		return half
	case transforms.CropCeil:
		return l.plus(half, odd)
	}
	// The half of an odd difference is rounded to even for a crop, and up for
	// padding.
	larger := num{name: l.cast(l.op("Less", nil, l.numName(d), l.ints(0)), tensor.Int64)}
	if o.CropRounding == transforms.CropTruncate {
		return l.plus(half, l.times(odd, larger))
	}
	return l.plus(half, l.times(odd, l.most(larger, l.mod(half, known(2)))))
}
