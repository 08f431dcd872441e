package tensor

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// CopyPadded copies t to the start of every axis of dst and sets the elements
// of dst that remain to value. For integers, value is rounded towards zero and
// clamped to the range. dst must be dense, of the same dtype and number of
// axes, and no axis may be shorter than t's. Bytes have no padding.
func (t *Tensor) CopyPadded(dst *Tensor, value float64) error {
	if t.Shape == dst.Shape {
		return t.CopyTo(dst)
	}
	ok := t.DType != Bytes && dst.DType == t.DType && dst.Shape.Rank() == t.Shape.Rank() && dst.Dense()
	for a := 0; ok && a < t.Shape.Rank(); a++ {
		ok = t.Shape.At(a) <= dst.Shape.At(a)
	}
	if !ok {
		return errfmt.Errorf("tensor: pad: %v to %v: want one type and number of axes, a dense target that is not smaller, and no bytes", t.Desc, dst.Desc)
	}
	fill(dst, value)
	if t.Len() > 0 {
		scatter(dst.Data, t.Data, dst, t, 0)
	}
	return nil
}

// fill sets all elements of a dense tensor.
func fill(t *Tensor, value float64) {
	switch t.DType {
	case Bool:
		set(t.Data, clamp(math.Abs(value), 0, 1, func(f float64) uint8 { return uint8(math.Ceil(f)) }))
	case Uint8:
		set(t.Data, clamp(value, 0, math.MaxUint8, func(f float64) uint8 { return uint8(f) }))
	case Int8:
		set(View[int8](t), clamp(value, math.MinInt8, math.MaxInt8, func(f float64) int8 { return int8(f) }))
	case Uint16:
		set(View[uint16](t), clamp(value, 0, math.MaxUint16, func(f float64) uint16 { return uint16(f) }))
	case Int16:
		set(View[int16](t), clamp(value, math.MinInt16, math.MaxInt16, func(f float64) int16 { return int16(f) }))
	case Int32:
		set(View[int32](t), clamp(value, math.MinInt32, math.MaxInt32, func(f float64) int32 { return int32(f) }))
	case Int64:
		set(View[int64](t), clamp(value, -1<<62, 1<<62, func(f float64) int64 { return int64(f) }))
	case Float16:
		set(View[uint16](t), Float16FromFloat32(float32(value)))
	case BFloat16:
		set(View[uint16](t), BFloat16FromFloat32(float32(value)))
	case Float32:
		set(View[float32](t), float32(value))
	case Float64:
		set(View[float64](t), value)
	}
}

func set[T any](l []T, v T) {
	for i := range l {
		l[i] = v
	}
}

func clamp[T any](f, lo, hi float64, to func(float64) T) T { return to(max(lo, min(hi, f))) }

// scatter copies the axes of from, from axis on, to the start of those of to.
func scatter(out, in []byte, to, from *Tensor, axis int) {
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
		scatter(out[i*to.Strides[axis]*size:], in[i*from.Strides[axis]*size:], to, from, axis+1)
	}
}
