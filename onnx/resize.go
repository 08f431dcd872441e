package onnx

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// scaled lowers a resizing op. For a known size, the op itself provides the
// cut, the size and the placement.
func (l *lowering) scaled(o transforms.Scaled, out []value, x value) error {
	d := x.desc
	if d.DType != tensor.Uint8 && (l.options.Form != Exact || d.DType != tensor.Float32) {
		return l.refuse("resizing %v, want uint8", d.DType)
	}
	if !knownSize(d) {
		switch {
		case l.options.HostTaps:
			return l.hostTaps(o, &out[0], x)
		case l.options.Form == Fast:
			return l.dynamic(o, out, x)
		}
		return l.refuse("the image's size is unknown: set the input size, or use host taps")
	}
	side := make([]*tensor.Tensor, len(out)-1)
	for i := range side {
		t, err := tensor.New(out[i+1].desc)
		if err != nil {
			return l.refuse("%v", err)
		}
		side[i] = t
	}
	s, err := o.Scale(d.Height(), d.Width(), side)
	if err != nil {
		return l.refuse("%v", err)
	}
	for i, t := range side {
		out[i+1].name = l.add("side", t)
	}
	cut := value{desc: d.WithSize(s.Cut.Height, s.Cut.Width)}
	if err := l.frame(s.Cut, &cut, x); err != nil {
		return err
	}
	scaled := value{cut.name, d.WithSize(s.Height, s.Width)}
	if cut.desc != scaled.desc {
		if err := l.resize(o, s, &scaled, cut); err != nil {
			return err
		}
	}
	return l.frame(s.Place, &out[0], scaled)
}

// resize scales an image of known size to another size.
func (l *lowering) resize(o transforms.Scaled, s transforms.Scale, y *value, x value) error {
	interp, backend, antialias := o.Sampling()
	if interp == transforms.Nearest || interp == transforms.NearestExact {
		return l.nearest(interp, backend, y, x)
	}
	if l.options.Form == Fast {
		h, w, c := axes(x.desc)
		var sizes [3]num
		sizes[h], sizes[w], sizes[c] = known(s.Height), known(s.Width), known(x.desc.Channels())
		return l.fastResize(interp, backend, antialias, sizes, y, x)
	}
	switch backend {
	case transforms.Pillow:
		f, err := l.pillowFilter(interp, x)
		if err != nil {
			return err
		}
		l.passes(pillowTaps(f, x.desc.DType == tensor.Float32), s.VerticalFirst, y, x)
		return nil
	case transforms.TorchUint8:
		if x.desc.DType != tensor.Uint8 {
			break // the arithmetic of backend torch
		}
		fill, err := l.torchTaps(interp, antialias, x)
		if err != nil {
			return err
		}
		l.passes(fill, false, y, x)
		return nil
	case transforms.OpenCV:
		if interp == transforms.Bilinear && x.desc.DType == tensor.Uint8 {
			l.openCVLinear(s.Halved, y, x)
			return nil
		}
		return l.refuse("%v of backend opencv has its own order of float32 operations; want bilinear of uint8", interp)
	}
	if backend == transforms.Torch || backend == transforms.TorchUint8 {
		return l.refuse("backend torch adds unrounded float32 products (fused multiply-add), which ONNX cannot express")
	}
	return l.refuse("no operators for %v of backend %v", interp, backend)
}

var pillowFilters = map[transforms.Interpolation]kernel.Filter{
	transforms.Box: kernel.FilterBox, transforms.Bilinear: kernel.FilterBilinear, transforms.Hamming: kernel.FilterHamming,
	transforms.Bicubic: kernel.FilterBicubic, transforms.Lanczos: kernel.FilterLanczos,
}

var torchFilters = map[transforms.Interpolation]kernel.TorchFilter{
	transforms.Bilinear: kernel.TorchLinear, transforms.Bicubic: kernel.TorchCubic, transforms.Lanczos: kernel.TorchLanczos,
}

func (l *lowering) pillowFilter(i transforms.Interpolation, x value) (kernel.Filter, error) {
	f, ok := pillowFilters[i]
	if !ok {
		return 0, l.refuse("no operators for Pillow's %v", i)
	}
	if n := x.desc.Channels(); n == 2 || n == 4 || n == tensor.Unknown {
		return 0, l.refuse("Pillow premultiplies images of 2 and 4 channels by alpha; want 1 or 3 channels")
	}
	return f, nil
}

// tap is one weight for every output along an axis, and the pixel that it
// applies to.
type tap struct {
	index []int32
	fixed []int32
	float []float64
}

// fillTaps computes the taps of an axis.
type fillTaps func(t *kernel.Taps, in, out int)

func pillowTaps(f kernel.Filter, float bool) fillTaps {
	return func(t *kernel.Taps, in, out int) { t.Pillow(in, out, 0, out, f, float) }
}

// torchTaps returns the taps of backend torch_uint8.
func (l *lowering) torchTaps(i transforms.Interpolation, antialias bool, x value) (fillTaps, error) {
	if n := x.desc.Channels(); n > 4 || n == tensor.Unknown {
		return nil, l.refuse("torch has a quirk with more than 4 channels; want 1 to 4")
	}
	f := torchFilters[i]
	return func(t *kernel.Taps, in, out int) { t.TorchU8(in, out, 0, out, f, antialias) }, nil
}

// tapsAlong returns the taps of a resampling from in to out pixels that fill
// describes. Outputs with fewer taps get additional taps of weight 0.
func tapsAlong(in, out int, fill fillTaps, float bool) []tap {
	var t kernel.Taps
	fill(&t, in, out)
	taps := make([]tap, slices.Max(t.Len))
	for j := range taps {
		for i := range out {
			n := min(int(t.Start[i])+j, in-1)
			taps[j].index = append(taps[j].index, int32(n))
			switch used := j < int(t.Len[i]); {
			case float && used:
				taps[j].float = append(taps[j].float, t.W64[i*t.K+j])
			case float:
				taps[j].float = append(taps[j].float, 0)
			case used:
				taps[j].fixed = append(taps[j].fixed, t.W32[i*t.K+j])
			default:
				taps[j].fixed = append(taps[j].fixed, 0)
			}
		}
	}
	return taps
}

// alongAxis returns the shape of n values along an axis of an image.
func alongAxis(axis, n int) []int {
	d := []int{n}
	for range 2 - axis {
		d = append(d, 1)
	}
	return d
}

// passes lowers two passes with their roundings.
func (l *lowering) passes(fill fillTaps, verticalFirst bool, y *value, x value) {
	ay, ax, _ := axes(x.desc)
	order := []int{ax, ay}
	if verticalFirst {
		order = []int{ay, ax}
	}
	name := x.name
	float := x.desc.DType == tensor.Float32
	if !float {
		name = l.cast(name, tensor.Int32)
	}
	for _, axis := range order {
		in, out := x.desc.Shape.At(axis), y.desc.Shape.At(axis)
		if in == out {
			continue
		}
		taps := tapsAlong(in, out, fill, float)
		if float {
			name = l.passFloat(name, axis, taps)
		} else {
			name = l.clip8(l.pass(name, axis, taps))
		}
	}
	if !float {
		name = l.cast(name, tensor.Uint8)
	}
	y.name = name
}

// pass returns the sum of the taps plus a half, in int32. No filter's sum
// overflows.
func (l *lowering) pass(x string, axis int, taps []tap) string {
	sum := constOf(l.builder, "half", []int32{1 << (kernel.TapsBits - 1)})
	for _, t := range taps {
		p := l.op("Gather", []attr{{"axis", int64(axis)}}, x, constOf(l.builder, "index", t.index, len(t.index)))
		p = l.op("Mul", nil, p, constOf(l.builder, "weight", t.fixed, alongAxis(axis, len(t.fixed))...))
		sum = l.op("Add", nil, sum, p)
	}
	return sum
}

// clip8 converts a fixed-point sum to a number of 0 to 255. It clips first,
// because Div rounds negative numbers differently than a shift.
func (l *lowering) clip8(sum string) string {
	const one = 1 << kernel.TapsBits
	sum = l.op("Clip", nil, sum, constOf(l.builder, "low", []int32{0}), constOf(l.builder, "high", []int32{256*one - 1}))
	return l.op("Div", nil, sum, constOf(l.builder, "one", []int32{one}))
}

// passFloat lowers a pass of Pillow's mode F: sums in float64, in order,
// rounded to float32.
func (l *lowering) passFloat(x string, axis int, taps []tap) string {
	x = l.cast(x, tensor.Float64)
	sum := constOf(l.builder, "zero", []float64{0})
	for _, t := range taps {
		p := l.op("Gather", []attr{{"axis", int64(axis)}}, x, constOf(l.builder, "index", t.index, len(t.index)))
		p = l.op("Mul", nil, p, constOf(l.builder, "weight", t.float, alongAxis(axis, len(t.float))...))
		sum = l.op("Add", nil, sum, p)
	}
	return l.cast(sum, tensor.Float32)
}

// openCVLinear lowers OpenCV's fixed-point bilinear: 11 bits for each pass,
// with the truncations of its vertical pass. Nothing is negative, so that Div
// is a shift.
func (l *lowering) openCVLinear(halved bool, y *value, x value) {
	ay, ax, _ := axes(x.desc)
	int32s := func(v ...int32) string { return constOf(l.builder, "number", v) }
	pick := func(x string, axis int, t *kernel.CVTaps, j int) string {
		index := make([]int32, len(t.Index)/2)
		for i := range index {
			index[i] = t.Index[2*i+j]
		}
		return l.op("Gather", []attr{{"axis", int64(axis)}}, x, constOf(l.builder, "index", index, len(index)))
	}
	weigh := func(x string, axis int, t *kernel.CVTaps, j int) string {
		w := make([]int32, len(t.WI)/2)
		for i := range w {
			w[i] = t.WI[2*i+j]
		}
		return l.op("Mul", nil, x, constOf(l.builder, "weight", w, alongAxis(axis, len(w))...))
	}
	shift := func(x string, bits int) string { return l.op("Div", nil, x, int32s(1<<bits)) }
	name := l.cast(x.name, tensor.Int32)
	if halved { // the mean of two by two pixels, rounded half up
		for _, axis := range []int{ax, ay} {
			var t kernel.CVTaps
			n := y.desc.Shape.At(axis)
			for i := range n {
				t.Index = append(t.Index, int32(2*i), int32(2*i+1))
			}
			name = l.op("Add", nil, pick(name, axis, &t, 0), pick(name, axis, &t, 1))
		}
		y.name = l.cast(shift(l.op("Add", nil, name, int32s(2)), 2), tensor.Uint8)
		return
	}
	var tx, ty kernel.CVTaps
	tx.Resize(x.desc.Width(), y.desc.Width(), kernel.CVLinear, false)
	ty.Resize(x.desc.Height(), y.desc.Height(), kernel.CVLinear, true)
	rows := l.op("Add", nil, weigh(pick(name, ax, &tx, 0), ax, &tx, 0), weigh(pick(name, ax, &tx, 1), ax, &tx, 1))
	rows = shift(rows, 4)
	up := shift(weigh(pick(rows, ay, &ty, 0), ay, &ty, 0), 16)
	down := shift(weigh(pick(rows, ay, &ty, 1), ay, &ty, 1), 16)
	sum := l.op("Add", nil, l.op("Add", nil, up, down), int32s(2))
	y.name = l.cast(l.op("Clip", nil, shift(sum, 2), int32s(0), int32s(255)), tensor.Uint8)
}

// nearest gathers rows and columns.
func (l *lowering) nearest(interp transforms.Interpolation, backend transforms.Backend, y *value, x value) error {
	rule := kernel.NearestPillow
	torch := backend == transforms.Torch || backend == transforms.TorchUint8
	switch {
	case backend == transforms.OpenCV && interp == transforms.Nearest:
		rule = kernel.NearestCV
	case backend == transforms.OpenCV:
		rule = kernel.NearestExactCV
	case torch && interp == transforms.Nearest:
		rule = kernel.NearestTorch
	case torch:
		rule = kernel.NearestExactTorch(y.desc.Height(), y.desc.Width())
	}
	ay, ax, _ := axes(x.desc)
	name := x.name
	for _, axis := range []int{ay, ax} {
		index := make([]int32, y.desc.Shape.At(axis))
		rule(index, x.desc.Shape.At(axis), len(index))
		if slices.Contains(index, -1) {
			return l.refuse("Pillow's rounding leaves the last row or column empty at this size")
		}
		name = l.op("Gather", []attr{{"axis", int64(axis)}}, name, constOf(l.builder, "index", index, len(index)))
	}
	y.name = name
	return nil
}
