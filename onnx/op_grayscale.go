package onnx

import (
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	register(emitter[*transforms.Grayscale]{op: (*lowering).grayscale})
}

// grayscale adds weighted channels in integers.
func (l *lowering) grayscale(o *transforms.Grayscale, out, in []value) error {
	x, y := in[0], &out[0]
	_, _, c := axes(x.desc)
	name := x.name
	switch {
	case x.desc.Channels() == 1:
	case x.desc.Channels() != 3:
		return l.refuse("the number of channels is unknown")
	case o.Backend == transforms.Torch:
		return l.refuse("backend torch truncates float32 sums; want pillow or opencv, which use integers")
	default:
		weights, shift := []int32{19595, 38470, 7471}, 16
		if o.Backend == transforms.OpenCV {
			weights, shift = []int32{9798, 19235, 3735}, 15
		}
		name = l.op("Mul", nil, l.cast(name, tensor.Int32), constOf(l.builder, "weights", weights, perChannel(x.desc, 3)...))
		name = l.op("ReduceSum", []attr{{"keepdims", int64(1)}}, name, l.ints(int64(c)))
		name = l.op("Add", nil, name, constOf(l.builder, "half", []int32{1 << (shift - 1)}))
		name = l.op("Div", nil, name, constOf(l.builder, "one", []int32{1 << shift}))
		name = l.cast(name, tensor.Uint8)
	}
	if o.Channels == 3 && (x.desc.Channels() == 1 || name != x.name) {
		name = l.op("Concat", []attr{{"axis", int64(c)}}, name, name, name)
	}
	y.name = name
	return nil
}
