package onnx

import (
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

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
