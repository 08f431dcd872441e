package tiles

import (
	"encoding/binary"
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// validator returns a function that reports whether the sample at the start of
// a slice has data: another value than the no-data value v. It returns nil if
// no sample of the type can have the value v. If v is NaN, every NaN has no
// data. Floats are compared in their own type.
func validator(t tensor.DType, v float64) func([]byte) bool {
	whole := v == math.Trunc(v) // false for NaN
	order := binary.NativeEndian
	switch t {
	case tensor.Float16:
		if v != v {
			return func(b []byte) bool { return order.Uint16(b)&0x7FFF <= 0x7C00 }
		}
		n := tensor.Float16FromFloat64(v)
		if n&0x7FFF == 0 { // +0 and -0
			return func(b []byte) bool { return order.Uint16(b)&0x7FFF != 0 }
		}
		return func(b []byte) bool { return order.Uint16(b) != n }
	case tensor.Float32:
		n := float32(v)
		return func(b []byte) bool {
			f := math.Float32frombits(order.Uint32(b))
			return f != n && (f == f || n == n)
		}
	case tensor.Float64:
		return func(b []byte) bool {
			f := math.Float64frombits(order.Uint64(b))
			return f != v && (f == f || v == v)
		}
	case tensor.Uint8:
		if n := uint8(v); whole && v >= 0 && v <= math.MaxUint8 {
			return func(b []byte) bool { return b[0] != n }
		}
	case tensor.Int8:
		if n := uint8(int8(v)); whole && v >= math.MinInt8 && v <= math.MaxInt8 {
			return func(b []byte) bool { return b[0] != n }
		}
	case tensor.Uint16:
		if n := uint16(v); whole && v >= 0 && v <= math.MaxUint16 {
			return func(b []byte) bool { return order.Uint16(b) != n }
		}
	case tensor.Int16:
		if n := uint16(int16(v)); whole && v >= math.MinInt16 && v <= math.MaxInt16 {
			return func(b []byte) bool { return order.Uint16(b) != n }
		}
	case tensor.Int32:
		if n := uint32(int32(v)); whole && v >= math.MinInt32 && v <= math.MaxInt32 {
			return func(b []byte) bool { return order.Uint32(b) != n }
		}
	case tensor.Int64:
		if n := uint64(int64(v)); whole && v >= math.MinInt64 && v < 1<<63 {
			return func(b []byte) bool { return order.Uint64(b) != n }
		}
	}
	return nil
}
