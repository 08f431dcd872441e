package dataset

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// common returns a description that both match: differing sizes are Unknown.
func common(a, b tensor.Desc) (tensor.Desc, bool) {
	if a.DType != b.DType || a.Layout != b.Layout || a.Shape.Rank() != b.Shape.Rank() {
		return a, false
	}
	for i := range a.Shape.Rank() {
		if a.Shape.At(i) != b.Shape.At(i) {
			a.Shape = a.Shape.With(i, tensor.Unknown)
		}
	}
	return a, true
}

// batched returns the description of n stacked values. ok is false if they
// cannot be stacked.
func batched(d tensor.Desc, n int) (tensor.Desc, bool) {
	if d.DType == tensor.Bytes || d.Shape.Rank() == tensor.MaxRank {
		return d, false
	}
	s := tensor.Dims(n)
	for i := range d.Shape.Rank() {
		s = s.Append(d.Shape.At(i))
	}
	return tensor.Desc{DType: d.DType, Shape: s}, true
}

// fill sets all elements of a dense tensor. For integers, value is rounded
// towards zero and clamped to the range.
func fill(t *tensor.Tensor, value float64) error {
	switch t.DType {
	case tensor.Uint8, tensor.Bool:
		set(t.Data, clamp(value, 0, math.MaxUint8, func(f float64) uint8 { return uint8(f) }))
	case tensor.Int8:
		set(tensor.View[int8](t), clamp(value, math.MinInt8, math.MaxInt8, func(f float64) int8 { return int8(f) }))
	case tensor.Uint16:
		set(tensor.View[uint16](t), clamp(value, 0, math.MaxUint16, func(f float64) uint16 { return uint16(f) }))
	case tensor.Int16:
		set(tensor.View[int16](t), clamp(value, math.MinInt16, math.MaxInt16, func(f float64) int16 { return int16(f) }))
	case tensor.Int32:
		set(tensor.View[int32](t), clamp(value, math.MinInt32, math.MaxInt32, func(f float64) int32 { return int32(f) }))
	case tensor.Int64:
		set(tensor.View[int64](t), clamp(value, -1<<62, 1<<62, func(f float64) int64 { return int64(f) }))
	case tensor.Float16:
		set(tensor.View[uint16](t), tensor.Float16FromFloat32(float32(value)))
	case tensor.BFloat16:
		set(tensor.View[uint16](t), tensor.BFloat16FromFloat32(float32(value)))
	case tensor.Float32:
		set(tensor.View[float32](t), float32(value))
	case tensor.Float64:
		set(tensor.View[float64](t), value)
	default:
		return defErr("a column of %v cannot be padded", t.DType)
	}
	return nil
}

func set[T any](l []T, v T) {
	for i := range l {
		l[i] = v
	}
}

func clamp[T any](f, lo, hi float64, to func(float64) T) T { return to(max(lo, min(hi, f))) }

// scatter copies from into to, a view of the same dtype and shape.
func scatter(to, from *tensor.Tensor) {
	if from.Len() > 0 {
		scatterAxis(to.Data, from.Data, to, from, 0)
	}
}

func scatterAxis(out, in []byte, to, from *tensor.Tensor, axis int) {
	size := from.DType.Size()
	if axis == from.Shape.Rank() {
		copy(out[:size], in[:size])
		return
	}
	n := from.Shape.At(axis)
	if axis == from.Shape.Rank()-1 && to.Strides[axis] == 1 && from.Strides[axis] == 1 {
		copy(out[:n*size], in[:n*size])
		return
	}
	for i := range n {
		scatterAxis(out[i*to.Strides[axis]*size:], in[i*from.Strides[axis]*size:], to, from, axis+1)
	}
}
