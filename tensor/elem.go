package tensor

import "unsafe"

// Elem is a Go type that can view a tensor's elements. Float16 and BFloat16
// elements are viewed as uint16, Bool as uint8.
type Elem interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// View returns a tensor's Data as a slice of T, sharing its memory. The caller
// chooses a T that fits the dtype. View panics if the data has a partial
// element or is not aligned for T; data from New, Reset and Wrap is always
// aligned.
func View[T Elem](t *Tensor) []T { return Cast[T](t.Data) }

// Cast returns b as a slice of T, sharing memory; see View.
func Cast[T Elem](b []byte) []T {
	var z T
	n := int(unsafe.Sizeof(z))
	if len(b) == 0 {
		return nil
	}
	if len(b)%n != 0 || uintptr(unsafe.Pointer(&b[0]))%uintptr(n) != 0 {
		panic("tensor: data does not view as this type")
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/n)
}

// Float64s returns a function that reads element i of t, in row-major order. It
// returns nil for Bytes. Int64 values beyond 2^53 round to the nearest float64.
// Float64s copies a tensor that is not dense.
func Float64s(t *Tensor) func(i int) float64 {
	if !t.Dense() {
		t = t.Clone()
	}
	switch t.DType {
	case Uint8, Bool:
		return number[uint8](t)
	case Int8:
		return number[int8](t)
	case Uint16:
		return number[uint16](t)
	case Int16:
		return number[int16](t)
	case Int32:
		return number[int32](t)
	case Int64:
		return number[int64](t)
	case Float32:
		return number[float32](t)
	case Float64:
		return number[float64](t)
	case Float16:
		v := View[uint16](t)
		return func(i int) float64 { return float64(Float16ToFloat32(v[i])) }
	case BFloat16:
		v := View[uint16](t)
		return func(i int) float64 { return float64(BFloat16ToFloat32(v[i])) }
	}
	return nil
}

func number[T Elem](t *Tensor) func(i int) float64 {
	v := View[T](t)
	return func(i int) float64 { return float64(v[i]) }
}
