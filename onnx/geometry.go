package onnx

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// flip mirrors an axis.
func (l *lowering) flip(x string, axis int) string {
	return l.op("Slice", nil, x, l.ints(-1), l.ints(math.MinInt64), l.ints(int64(axis)), l.ints(-1))
}

// padOp adds the operator Pad with these amounts before and after each axis.
func (l *lowering) padOp(x, mode string, before, after [3]num, fill string) string {
	in := []string{x, l.vector(append(before[:], after[:]...)...)}
	if fill != "" {
		in = append(in, fill)
	}
	return l.op("Pad", []attr{{"mode", mode}}, in...)
}

// window shows the image through a window of h x w pixels whose first pixel is
// (top, left) of the image, with fill outside the image.
func (l *lowering) window(y *value, x value, top, left, h, w num, fill []float64) error {
	ay, ax, _ := axes(x.desc)
	name := x.name
	var starts, ends, cut []num
	var before, after [3]num
	padded := false
	for _, a := range []struct {
		axis     int
		start, n num
	}{{ay, top, h}, {ax, left, w}} {
		size := l.size(x, a.axis)
		lo, end := l.most(a.start, known(0)), l.plus(a.start, a.n)
		hi := l.least(end, size)
		if allKnown(lo, hi) && lo.v >= hi.v {
			return l.refuse("the window lies outside the image")
		}
		if !allKnown(lo, hi, size) || lo.v != 0 || hi.v != size.v {
			starts, ends, cut = append(starts, lo), append(ends, hi), append(cut, known(a.axis))
		}
		before[a.axis] = l.most(l.minus(known(0), a.start), known(0))
		after[a.axis] = l.most(l.minus(end, size), known(0))
		if !allKnown(before[a.axis], after[a.axis]) || before[a.axis].v != 0 || after[a.axis].v != 0 {
			padded = true
		}
	}
	if cut != nil {
		name = l.op("Slice", nil, name, l.vector(starts...), l.vector(ends...), l.vector(cut...))
	}
	if padded {
		var err error
		if name, err = l.filled(name, x.desc, before, after, fill); err != nil {
			return err
		}
	}
	y.name = name
	return nil
}

func allKnown(l ...num) bool {
	return !slices.ContainsFunc(l, func(n num) bool { return n.name != "" })
}

// filled pads with a constant. Pad supports one value for all channels;
// otherwise filled writes the fill where a padded image of ones has zeros.
func (l *lowering) filled(x string, d tensor.Desc, before, after [3]num, fill []float64) (string, error) {
	switch d.DType {
	case tensor.Float16, tensor.BFloat16, tensor.Uint16, tensor.Int16:
		return "", l.refuse("ONNX Runtime's Pad does not support %v", d.DType)
	}
	if len(slices.Compact(slices.Clone(fill))) == 1 {
		return l.padOp(x, "constant", before, after, l.number(d.DType, fill[0])), nil
	}
	padded := l.padOp(x, "constant", before, after, l.number(d.DType, 0))
	one := constOf(l.builder, "ones", []uint8{1}, 1, 1, 1)
	shape := l.op("Shape", nil, x)
	inside := l.padOp(l.op("Expand", nil, one, shape), "constant", before, after, l.number(tensor.Uint8, 0))
	return l.op("Where", nil, l.cast(inside, tensor.Bool), padded, l.numbers(d.DType, fill, perChannel(d, len(fill))...)), nil
}

// framed lowers an op that shows the image through a frame, for a known size.
func (l *lowering) framed(o transforms.Framed, y *value, x value) error {
	if !knownSize(x.desc) {
		return l.needSize("the frame")
	}
	return l.frame(o.Frame(x.desc.Height(), x.desc.Width()), y, x)
}

func (l *lowering) needSize(what string) error {
	return l.refuse("%s needs the image's size: set the input size", what)
}

func knownSize(d tensor.Desc) bool {
	return d.Height() != tensor.Unknown && d.Width() != tensor.Unknown
}

// frame shows x through f and sets y's name.
func (l *lowering) frame(f transforms.Frame, y *value, x value) error {
	fill := f.Fill
	if fill == nil {
		fill = []float64{0}
	}
	if err := l.window(y, x, known(f.Top), known(f.Left), known(f.Height), known(f.Width), fill); err != nil {
		return err
	}
	h, w, _ := axes(x.desc)
	if f.FlipY {
		y.name = l.flip(y.name, h)
	}
	if f.FlipX {
		y.name = l.flip(y.name, w)
	}
	return nil
}

// placed puts the image into an area of h x w pixels and returns its position.
func (l *lowering) placed(p transforms.Position, mode transforms.PadMode, fill []float64, h, w num, y *value, x value) (start [2]num, err error) {
	ay, ax, _ := axes(x.desc)
	var outside [2]num
	var before, after [2]int
	for i, rest := range []num{l.minus(h, l.size(x, ay)), l.minus(w, l.size(x, ax))} {
		switch p {
		case transforms.BottomRight:
			start[i] = rest
		case transforms.Center:
			start[i] = l.over(l.minus(rest, l.mod(rest, known(2))), known(2))
		}
		before[i], after[i] = int(start[i].v), int(rest.v-start[i].v)
		outside[i] = l.minus(known(0), start[i])
	}
	if mode == transforms.PadConstant {
		return start, l.window(y, x, outside[0], outside[1], h, w, fill)
	}
	if !knownSize(x.desc) {
		return start, l.needSize("padding in mode " + mode.String())
	}
	return start, l.reflected(mode, y, x, before, after)
}

// reflected pads by gathering rows and columns repeatedly. Mode edge also works
// for unknown sizes.
func (l *lowering) reflected(mode transforms.PadMode, y *value, x value, before, after [2]int) error {
	ay, ax, _ := axes(x.desc)
	if !knownSize(x.desc) {
		if mode != transforms.PadEdge {
			return l.needSize("padding in mode " + mode.String())
		}
		var b, a [3]num
		b[ay], b[ax], a[ay], a[ax] = known(before[0]), known(before[1]), known(after[0]), known(after[1])
		y.name = l.padOp(x.name, "edge", b, a, "")
		return nil
	}
	name := x.name
	for i, axis := range []int{ay, ax} {
		if before[i]+after[i] == 0 {
			continue
		}
		n := x.desc.Shape.At(axis)
		index := make([]int64, 0, before[i]+n+after[i])
		for at := -before[i]; at < n+after[i]; at++ {
			index = append(index, int64(mirrored(mode, at, n)))
		}
		name = l.op("Gather", []attr{{"axis", int64(axis)}}, name, l.ints(index...))
	}
	y.name = name
	return nil
}

// mirrored returns which of n pixels is at position i, as in NumPy's pad modes.
func mirrored(mode transforms.PadMode, i, n int) int {
	period := 2 * n // cba|abcd|dcb
	switch {
	case mode == transforms.PadEdge || n == 1:
		return min(max(i, 0), n-1)
	case mode == transforms.PadReflect:
		period -= 2 // dcb|abcd|cba
	}
	if i %= period; i < 0 {
		i += period
	}
	if mode == transforms.PadReflect {
		return min(i, period-i)
	}
	return min(i, period-1-i)
}
