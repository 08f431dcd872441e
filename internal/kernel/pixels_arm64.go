//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// deinterleave3NEON and deinterleave4NEON move n pixels, a multiple of 16/size
// and not 0, of elements of size bytes. plane is in bytes.
//
//go:noescape
func deinterleave3NEON(dst *byte, plane int, src *byte, n, size int)

//go:noescape
func deinterleave4NEON(dst *byte, plane int, src *byte, n, size int)

// interleave3NEON and interleave4NEON are their inverses.
//
//go:noescape
func interleave3NEON(dst, src *byte, plane, n, size int)

//go:noescape
func interleave4NEON(dst, src *byte, plane, n, size int)

// lookupCHW3x4 and its like do n pixels, a multiple of 8 and not 0. The name says
// how many channels and how many bytes an entry. plane is in bytes.
//
//go:noescape
func lookupCHW3x4(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW4x4(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW3x2(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW4x2(dst *byte, plane int, src *byte, n int, tables *byte)

// lookupCHW3x1NEON and its like do n pixels, a multiple of 16 and not 0.
//
//go:noescape
func lookupCHW3x1NEON(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW4x1NEON(dst *byte, plane int, src *byte, n int, tables *byte)

// lookupHWC3x4 and its like do n elements, a multiple of 24, or of 8 if not of
// three channels, and not 0.
//
//go:noescape
func lookupHWC1x4(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC3x4(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC4x4(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC1x2(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC3x2(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC4x2(dst, src *byte, n int, tables *byte)

// lookupHWC3x1NEON and its like do n pixels, a multiple of 16 and not 0.
//
//go:noescape
func lookupHWC1x1NEON(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC3x1NEON(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC4x1NEON(dst, src *byte, n int, tables *byte)

// flipNEON reverses 16 bytes so many times by order. Each time it goes on by step
// bytes in src, and back by as many from last, the last byte of the output.
//
//go:noescape
func flipNEON(last, src *byte, times int, order *[16]uint8, step int)

// normalizeNEON does n elements, a multiple of 24 and not 0.
//
//go:noescape
func normalizeNEON(dst, src *float32, n int, mean, std *[24]float32)

// quantizeUint8NEON and its like do n elements, a multiple of 24 and not 0.
//
//go:noescape
func quantizeUint8NEON(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

//go:noescape
func quantizeInt8NEON(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

//go:noescape
func quantizeUint16NEON(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

//go:noescape
func quantizeInt16NEON(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

// The functions here do the first pixels, or elements, or bytes, by assembly and
// give their number.

// pointer is where an element is.
func pointer[T Word](p *T) *byte { return (*byte)(unsafe.Pointer(p)) }

func lookupCHW[T Word](dst []T, plane int, src []uint8, ch int, tables []T) int {
	size := int(unsafe.Sizeof(dst[0]))
	n := len(src) / ch &^ 7
	if size == 1 {
		n &^= 15
	}
	if n == 0 || plane < 0 || (ch != 3 && ch != 4) || !cpu.Has(cpu.NEON) {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	_, _ = src[ch*n-1], tables[ch*256-1]
	d, t := pointer(&dst[0]), pointer(&tables[0])
	plane *= size
	switch {
	case size == 4 && ch == 3:
		lookupCHW3x4(d, plane, &src[0], n, t)
	case size == 4:
		lookupCHW4x4(d, plane, &src[0], n, t)
	case size == 2 && ch == 3:
		lookupCHW3x2(d, plane, &src[0], n, t)
	case size == 2:
		lookupCHW4x2(d, plane, &src[0], n, t)
	case size == 1 && ch == 3:
		lookupCHW3x1NEON(d, plane, &src[0], n, t)
	case size == 1:
		lookupCHW4x1NEON(d, plane, &src[0], n, t)
	default:
		return 0
	}
	return n
}

func lookupHWC[T Word](dst []T, src []uint8, ch int, tables []T) int {
	if ch != 1 && ch != 3 && ch != 4 || !cpu.Has(cpu.NEON) {
		return 0
	}
	size, step := unsafe.Sizeof(dst[0]), 8
	switch {
	case size == 1:
		step = 16 * ch
	case ch == 3:
		step = 24
	}
	n := len(src) / step * step
	if n == 0 {
		return 0
	}
	_, _ = dst[n-1], tables[ch*256-1]
	d, s, t := pointer(&dst[0]), &src[0], pointer(&tables[0])
	switch {
	case size == 4 && ch == 1:
		lookupHWC1x4(d, s, n, t)
	case size == 4 && ch == 3:
		lookupHWC3x4(d, s, n, t)
	case size == 4:
		lookupHWC4x4(d, s, n, t)
	case size == 2 && ch == 1:
		lookupHWC1x2(d, s, n, t)
	case size == 2 && ch == 3:
		lookupHWC3x2(d, s, n, t)
	case size == 2:
		lookupHWC4x2(d, s, n, t)
	case size == 1 && ch == 1:
		lookupHWC1x1NEON(d, s, n, t)
	case size == 1 && ch == 3:
		lookupHWC3x1NEON(d, s, n/3, t)
	case size == 1:
		lookupHWC4x1NEON(d, s, n/4, t)
	default:
		return 0
	}
	return n
}

func deinterleave[T Word](dst []T, plane int, src []T, ch int) int {
	size := int(unsafe.Sizeof(dst[0]))
	step := 16 / size
	n := len(src) / ch / step * step
	if n == 0 || plane < 0 || (ch != 3 && ch != 4) || !cpu.Has(cpu.NEON) {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	_ = src[ch*n-1]
	if ch == 3 {
		deinterleave3NEON(pointer(&dst[0]), size*plane, pointer(&src[0]), n, size)
	} else {
		deinterleave4NEON(pointer(&dst[0]), size*plane, pointer(&src[0]), n, size)
	}
	return n
}

func interleave[T Word](dst, src []T, plane, ch int) int {
	size := int(unsafe.Sizeof(dst[0]))
	step := 16 / size
	n := len(dst) / ch / step * step
	if n == 0 || plane < 0 || (ch != 3 && ch != 4) || !cpu.Has(cpu.NEON) {
		return 0
	}
	for c := range ch {
		_ = src[c*plane:][:n]
	}
	_ = dst[ch*n-1]
	if ch == 3 {
		interleave3NEON(pointer(&dst[0]), pointer(&src[0]), size*plane, n, size)
	} else {
		interleave4NEON(pointer(&dst[0]), pointer(&src[0]), size*plane, n, size)
	}
	return n
}

// reverses are the orders that reverse the whole pixels in 16 bytes, by their
// size, at the end of the 16.
var reverses = func() (r [17][16]uint8) {
	for size := 1; size < len(r); size++ {
		whole := 16 / size * size
		for i := range whole {
			r[size][16-whole+i] = uint8(whole - size - i/size*size + i%size)
		}
	}
	return r
}()

func flipRow(dst, src []uint8, size int) int {
	n := len(src)
	if n < 16 || size >= len(reverses) || !cpu.Has(cpu.NEON) {
		return 0
	}
	// What is written before the pixels of one step is written over by the next,
	// and by the caller after the last.
	step := 16 / size * size
	times := (n-16)/step + 1
	flipNEON(&dst[n-1], &src[0], times, &reverses[size], step)
	return times * step
}

func normalizeF32(dst, src, mean, std []float32) int {
	n, ch := len(src)/24*24, len(mean)
	if n == 0 || 24%ch != 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	var m, s [24]float32
	for i := range m {
		m[i], s[i] = mean[i%ch], std[i%ch]
	}
	_ = dst[n-1]
	normalizeNEON(&dst[0], &src[0], n, &m, &s)
	return n
}

func quantizeF32[T uint8 | int8 | uint16 | int16](dst []T, src, scale []float32, zero []int32) int {
	n, ch := len(src)/24*24, len(scale)
	if n == 0 || 24%ch != 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	var s [24]float32
	var z [24]int32
	for i := range s {
		s[i], z[i] = scale[i%ch], zero[i%ch]
	}
	_ = dst[n-1]
	d, one := pointer(&dst[0]), unsafe.Sizeof(dst[0]) == 1
	switch signed := ^T(0) < 0; {
	case one && !signed:
		quantizeUint8NEON(d, &src[0], n, &s, &z)
	case one:
		quantizeInt8NEON(d, &src[0], n, &s, &z)
	case !signed:
		quantizeUint16NEON(d, &src[0], n, &s, &z)
	default:
		quantizeInt16NEON(d, &src[0], n, &s, &z)
	}
	return n
}
