package onnx

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// lowerOp lowers an op. It sets the names of out, whose descriptions are known.
func (l *lowering) lowerOp(op transforms.Op, out, in []value) error {
	x, y := in[0], &out[0]
	switch o := op.(type) {
	case *transforms.ToTensor:
		y.name = l.toLayout(l.op("Div", nil, l.cast(x.name, tensor.Float32), l.float(255)), x.desc, tensor.CHW)
		return nil
	case *transforms.HWC2CHW:
		y.name = l.toLayout(x.name, x.desc, tensor.CHW)
		return nil
	case *transforms.CHW2HWC:
		y.name = l.toLayout(x.name, x.desc, tensor.HWC)
		return nil
	case *transforms.Rescale:
		return l.rescale(o, y, x)
	case *transforms.Normalize:
		y.name = l.normalize(x.name, x.desc, o.Mean, o.Std)
		return nil
	case *transforms.NormalizePad:
		return l.normalizePad(o, y, x)
	case *transforms.ToType:
		return l.toType(o, y, x)
	case *transforms.Quantize:
		return l.quantize(o, y, x)
	case *transforms.Grayscale:
		return l.grayscale(o, y, x)
	case *transforms.ConvertColor:
		return l.convertColor(o, y, x)
	case *transforms.Pad:
		return l.pad(o, y, x)
	case *transforms.PadToSize:
		return l.padToSize(o, y, x)
	case *transforms.PadToMultiple:
		return l.padToMultiple(o, y, x)
	case *transforms.PadWithMask:
		return l.padWithMask(o, out, x)
	case *transforms.ImageSize:
		l.imageSize(o, y, x)
		return nil
	case *transforms.CenterCrop:
		return l.centerCrop(o, y, x)
	case *transforms.Crop:
		return l.window(y, x, known(o.Top), known(o.Left), known(o.Height), known(o.Width), []float64{0})
	case *transforms.HorizontalFlip:
		_, w, _ := axes(x.desc)
		y.name = l.flip(x.name, w)
		return nil
	case *transforms.VerticalFlip:
		h, _, _ := axes(x.desc)
		y.name = l.flip(x.name, h)
		return nil
	case transforms.Scaled:
		return l.scaled(o, out, x)
	case transforms.Framed:
		return l.framed(o, y, x)
	case transforms.Pointwise:
		return l.table(o, y, x)
	}
	return l.refuse("no operators for this op")
}

// float returns a float32 scalar.
func (l *lowering) float(v float64) string { return constOf(l.builder, "float", []float32{float32(v)}) }

// toLayout converts an image to a layout.
func (l *lowering) toLayout(x string, d tensor.Desc, to tensor.Layout) string {
	switch {
	case d.Layout == to:
		return x
	case to == tensor.CHW:
		return l.op("Transpose", []attr{{"perm", []int64{2, 0, 1}}}, x)
	}
	return l.op("Transpose", []attr{{"perm", []int64{1, 2, 0}}}, x)
}

// float32s converts values to float32.
func float32s(v []float64) []float32 {
	f := make([]float32, len(v))
	for i := range v {
		f[i] = float32(v[i])
	}
	return f
}

// toFloat32 returns x as float32.
func (l *lowering) toFloat32(x value) string {
	if x.desc.DType == tensor.Float32 {
		return x.name
	}
	return l.cast(x.name, tensor.Float32)
}

// floats returns float32 values that broadcast over an image, one for all
// channels or one for each.
func (l *lowering) floats(d tensor.Desc, v []float64) string {
	return constOf(l.builder, "floats", float32s(v), perChannel(d, len(v))...)
}

func (l *lowering) normalize(x string, d tensor.Desc, mean, std []float64) string {
	return l.op("Div", nil, l.op("Sub", nil, x, l.floats(d, mean)), l.floats(d, std))
}

// normalizePad normalises, then appends the channel.
func (l *lowering) normalizePad(o *transforms.NormalizePad, y *value, x value) error {
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

func (l *lowering) rescale(o *transforms.Rescale, y *value, x value) error {
	kind, scale := "Mul", float32(o.Scale)
	switch x.desc.DType {
	case tensor.Uint8:
		// transformers multiplies in float64. For common scales one of the
		// float32 operations has the same result for all 256 values.
		t, err := runTable(o, tensor.Image(tensor.Uint8, tensor.HWC, 256, 1, 1))
		if err != nil {
			return l.refuse("%v", err)
		}
		equal := func(of func(v float32) float32) bool {
			for v, want := range tensor.View[float32](t) {
				f := of(float32(v))
				if o.Offset != 0 {
					f += float32(o.Offset)
				}
				if math.Float32bits(f) != math.Float32bits(want) {
					return false
				}
			}
			return true
		}
		inverse := float32(1 / o.Scale)
		switch {
		case equal(func(v float32) float32 { return v / scale }): // RescaleDivide
			kind = "Div"
		case equal(func(v float32) float32 { return v / inverse }):
			kind, scale = "Div", inverse
		case equal(func(v float32) float32 { return float32(v * scale) }):
		default:
			return l.table(o, y, x)
		}
	case tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Float16, tensor.BFloat16, tensor.Float32:
		// float32 holds every value of these dtypes exactly.
		switch o.Rule {
		case transforms.RescaleHF:
			kind = ""
		case transforms.RescaleMultiply:
		case transforms.RescaleDivide:
			kind = "Div"
		default:
			return l.refuse("rule %v of %v", o.Rule, x.desc.DType)
		}
	default:
		return l.refuse("the input is %v", x.desc.DType)
	}
	var name string
	if kind == "" {
		scale := constOf(l.builder, "double", []float64{o.Scale})
		name = l.cast(l.op("Mul", nil, l.cast(x.name, tensor.Float64), scale), tensor.Float32)
	} else {
		name = l.op(kind, nil, l.toFloat32(x), l.float(float64(scale)))
	}
	if o.Offset != 0 {
		name = l.op("Add", nil, name, l.float(o.Offset))
	}
	y.name = name
	return nil
}

// runTable runs an op on an image of 256 rows and one column. Row v has the
// value v in every channel.
func runTable(op transforms.Op, d tensor.Desc) (*tensor.Tensor, error) {
	d = d.WithSize(256, 1)
	src, err := tensor.New(d)
	if err != nil {
		return nil, err
	}
	for i := range src.Data {
		if d.Layout == tensor.CHW {
			src.Data[i] = byte(i)
		} else {
			src.Data[i] = byte(i / d.Channels())
		}
	}
	return runOp(op, src)
}

// runOp runs an op with one output on a tensor.
func runOp(op transforms.Op, src *tensor.Tensor) (*tensor.Tensor, error) {
	var out [1]tensor.Desc
	if err := op.Infer(out[:], []tensor.Desc{src.Desc}); err != nil {
		return nil, err
	}
	dst, err := tensor.New(out[0])
	if err != nil {
		return nil, err
	}
	c := transforms.NewContext(codec.DefaultLimits())
	c.Begin()
	return dst, op.Apply(c, []*tensor.Tensor{dst}, []*tensor.Tensor{src})
}

// table lowers a pointwise op on uint8 to a table of its results for the 256
// values of each channel. The table is exact for every op.
func (l *lowering) table(op transforms.Op, y *value, x value) error {
	d := x.desc
	if d.DType != tensor.Uint8 || !d.IsImage() || d.Channels() == tensor.Unknown {
		return l.refuse("the input is %v, want a uint8 image, whose values fit a table", d)
	}
	t, err := runTable(op, d)
	if err != nil {
		return l.refuse("%v", err)
	}
	size, n := t.DType.Size(), d.Channels()
	entries := make([]byte, 0, n*256*size) // channel after channel
	for c := range n {
		for v := range 256 {
			at := v*n + c
			if t.Layout == tensor.CHW {
				at = c*256 + v
			}
			entries = append(entries, t.Data[at*size:][:size]...)
		}
	}
	same := true
	for c := range n {
		same = same && slices.Equal(entries[:256*size], entries[c*256*size:][:256*size])
	}
	if same {
		entries, n = entries[:256*size], 1
	}
	table, err := tensor.New(tensor.Desc{DType: t.DType, Shape: tensor.Dims(n * 256)})
	if err != nil {
		return err
	}
	copy(table.Data, entries)
	name := l.cast(x.name, tensor.Int32)
	if !same {
		offsets := make([]int32, n)
		for c := range offsets {
			offsets[c] = int32(256 * c)
		}
		name = l.op("Add", nil, name, constOf(l.builder, "offsets", offsets, perChannel(d, n)...))
	}
	name = l.op("Gather", nil, l.add("table", table), name)
	y.name = l.toLayout(name, d, y.desc.Layout)
	return nil
}

// holdsAll reports whether to holds every value of from exactly.
func holdsAll(to, from tensor.DType) bool {
	bits := map[tensor.DType]int{ // the bits of a value, including its sign
		tensor.Bool: 1, tensor.Uint8: 8, tensor.Int8: 8, tensor.Uint16: 16, tensor.Int16: 16, tensor.Int32: 32, tensor.Int64: 64,
	}
	n, integer := bits[from]
	m, toInteger := bits[to]
	signed := from == tensor.Int8 || from == tensor.Int16 || from == tensor.Int32 || from == tensor.Int64
	toSigned := to == tensor.Int8 || to == tensor.Int16 || to == tensor.Int32 || to == tensor.Int64
	switch {
	case to == from:
		return true
	case to == tensor.Bool:
		return false
	case integer && toInteger:
		return signed == toSigned && n <= m || !signed && toSigned && n < m
	case integer:
		return n <= map[tensor.DType]int{tensor.BFloat16: 8, tensor.Float16: 11, tensor.Float32: 24, tensor.Float64: 53}[to]
	}
	return to == tensor.Float64 || to == tensor.Float32 && (from == tensor.Float16 || from == tensor.BFloat16)
}

func (l *lowering) toType(o *transforms.ToType, y *value, x value) error {
	from, to := x.desc.DType, o.DType
	switch {
	case from == to:
		y.name = x.name
	case holdsAll(to, from):
		y.name = l.cast(x.name, to)
	case from == tensor.Uint8:
		return l.table(o, y, x)
	case from != tensor.Float32:
		return l.refuse("%v to %v: runtimes differ for values out of range", from, to)
	case to == tensor.Float16 || to == tensor.BFloat16: // both round half to even
		y.name = l.cast(x.name, to)
	case to == tensor.Int64 || to == tensor.Bool || o.Rule > transforms.CastSaturate:
		return l.refuse("%v to %v: ONNX does not define the result for values out of range", from, to)
	default:
		// Cast does not define the result for NaN and values out of range:
		// replace them first.
		wide := l.cast(x.name, tensor.Float64)
		zero := constOf(l.builder, "double", []float64{0})
		wide = l.op("Where", nil, l.op("IsNaN", nil, x.name), zero, wide)
		if o.Rule == transforms.CastSaturate {
			wide = l.op("Round", nil, wide)
		}
		lo, hi := limits(to)
		wide = l.op("Clip", nil, wide, constOf(l.builder, "double", []float64{lo}), constOf(l.builder, "double", []float64{hi}))
		y.name = l.cast(wide, to)
	}
	return nil
}

func limits(d tensor.DType) (lo, hi float64) {
	switch d {
	case tensor.Uint8:
		return 0, math.MaxUint8
	case tensor.Int8:
		return math.MinInt8, math.MaxInt8
	case tensor.Uint16:
		return 0, math.MaxUint16
	case tensor.Int16:
		return math.MinInt16, math.MaxInt16
	}
	return math.MinInt32, math.MaxInt32
}

// quantize lowers to QuantizeLinear for 8 bits. For 16 bits, which the operator
// supports from opset 21 on, it adds the operator's steps one by one.
func (l *lowering) quantize(o *transforms.Quantize, y *value, x value) error {
	n := max(len(o.Scale), len(o.ZeroPoint))
	at := func(i, n int) int { return min(i, n-1) }
	scale, zero := make([]float64, n), make([]float64, n)
	for i := range n {
		scale[i], zero[i] = o.Scale[at(i, len(o.Scale))], float64(o.ZeroPoint[at(i, len(o.ZeroPoint))])
	}
	if o.DType == tensor.Uint8 || o.DType == tensor.Int8 {
		var attrs []attr
		var dims []int
		if n > 1 {
			_, _, c := axes(x.desc)
			attrs, dims = []attr{{"axis", int64(c)}}, []int{n}
		}
		y.name = l.op("QuantizeLinear", attrs, x.name, constOf(l.builder, "scale", float32s(scale), dims...), l.numbers(o.DType, zero, dims...))
		return nil
	}
	name := l.op("Round", nil, l.op("Div", nil, x.name, l.floats(x.desc, scale)))
	name = l.op("Add", nil, name, l.floats(x.desc, zero))
	lo, hi := limits(o.DType)
	y.name = l.cast(l.op("Clip", nil, name, l.float(lo), l.float(hi)), o.DType)
	return nil
}

// numbers returns a constant of any numeric dtype; the values must be in its
// range.
func (l *lowering) numbers(d tensor.DType, v []float64, dims ...int) string {
	t, err := tensor.New(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(dims...)})
	if err == nil {
		copy(tensor.View[float64](t), v)
		if t, err = runOp(&transforms.ToType{DType: d}, t); err == nil {
			return l.add("numbers", t)
		}
	}
	if l.err == nil {
		l.err = err
	}
	return ""
}

// number returns a scalar of any numeric dtype.
func (l *lowering) number(d tensor.DType, v float64) string { return l.numbers(d, []float64{v}) }

// grayscale adds weighted channels in integers.
func (l *lowering) grayscale(o *transforms.Grayscale, y *value, x value) error {
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

// convertColor reorders channels.
func (l *lowering) convertColor(o *transforms.ConvertColor, y *value, x value) error {
	orders := map[transforms.ColorSpace][]int64{ // red is 0
		transforms.RGB: {0, 1, 2}, transforms.BGR: {2, 1, 0}, transforms.RGBA: {0, 1, 2, 3}, transforms.BGRA: {2, 1, 0, 3},
	}
	from, to := orders[o.From], orders[o.To]
	if o.From == o.To {
		y.name = x.name
		return nil
	}
	if from == nil || to == nil || len(to) > len(from) {
		return l.refuse("%v to %v is not a reordering of channels", o.From, o.To)
	}
	index := make([]int64, len(to))
	for i, c := range to {
		index[i] = int64(slices.Index(from, c))
	}
	_, _, c := axes(x.desc)
	y.name = l.op("Gather", []attr{{"axis", int64(c)}}, x.name, l.ints(index...))
	return nil
}
