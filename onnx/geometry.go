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

// centerCrop crops the centre. The model computes the position if the size is
// unknown.
func (l *lowering) centerCrop(o *transforms.CenterCrop, y *value, x value) error {
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

// pad adds a border.
func (l *lowering) pad(o *transforms.Pad, y *value, x value) error {
	ay, ax, _ := axes(x.desc)
	if o.Mode == transforms.PadConstant {
		h, w := l.plus(l.size(x, ay), known(o.Top+o.Bottom)), l.plus(l.size(x, ax), known(o.Left+o.Right))
		return l.window(y, x, known(-o.Top), known(-o.Left), h, w, o.Fill)
	}
	return l.reflected(o.Mode, y, x, [2]int{o.Top, o.Left}, [2]int{o.Bottom, o.Right})
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

func (l *lowering) padToSize(o *transforms.PadToSize, y *value, x value) error {
	_, err := l.placed(o.Position, o.Mode, o.Fill, known(o.Height), known(o.Width), y, x)
	return err
}

func (l *lowering) padToMultiple(o *transforms.PadToMultiple, y *value, x value) error {
	ay, ax, _ := axes(x.desc)
	up := func(n num) num { return l.plus(n, l.mod(l.minus(known(0), n), known(o.Multiple))) }
	_, err := l.placed(o.Position, o.Mode, o.Fill, up(l.size(x, ay)), up(l.size(x, ax)), y, x)
	return err
}

// padWithMask pads the image, and a mask of ones in the same way.
func (l *lowering) padWithMask(o *transforms.PadWithMask, out []value, x value) error {
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

func (l *lowering) imageSize(o *transforms.ImageSize, y *value, x value) {
	ay, ax, _ := axes(x.desc)
	y.name = l.vector(l.size(x, ay), l.size(x, ax))
	if o.DType != tensor.Int64 {
		y.name = l.cast(y.name, o.DType)
	}
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
