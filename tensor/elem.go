package tensor

import "unsafe"

// Elem is a Go type that can view a tensor's elements. Float16 and BFloat16
// elements are viewed as uint16, Bool as uint8.
type Elem interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// View is a tensor's Data as a slice of T, sharing its memory. It is the
// caller's to match T with the dtype; View panics if the sizes differ or the
// data is not aligned, which New, Reset and Wrap never give.
func View[T Elem](t *Tensor) []T { return Cast[T](t.Data) }

// Cast views bytes as a slice of T, sharing memory; see View.
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
