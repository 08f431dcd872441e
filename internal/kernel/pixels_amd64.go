//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// The functions here do the first pixels, or bytes, by assembly and give their number.

func lookupCHW[T Word](dst []T, plane int, src []uint8, ch int, tables []T) int {
	n := len(src) / ch &^ 7
	if n == 0 || (ch != 3 && ch != 4) || !cpu.Has(cpu.AVX2) {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	_, _ = src[ch*n-1], tables[ch*256-1]
	size := int(unsafe.Sizeof(dst[0]))
	d, t := (*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&tables[0]))
	switch {
	case size == 4 && ch == 3:
		lookupCHW3x4AVX2(d, 4*plane, &src[0], n, t)
	case size == 4:
		lookupCHW4x4AVX2(d, 4*plane, &src[0], n, t)
	case size == 2 && ch == 3:
		lookupCHW3x2AVX2(d, 2*plane, &src[0], n, t)
	case size == 2:
		lookupCHW4x2AVX2(d, 2*plane, &src[0], n, t)
	case size == 1 && ch == 3:
		lookupCHW3x1AVX2(d, plane, &src[0], n, t)
	case size == 1:
		lookupCHW4x1AVX2(d, plane, &src[0], n, t)
	default:
		return 0
	}
	return n
}

// firsts are the first entries of the tables of 24 interleaved elements, by the number of channels.
var firsts = func() (f [5][24]int32) {
	for ch := 1; ch < len(f); ch++ {
		for i := range f[ch] {
			f[ch][i] = int32(i % ch * 256)
		}
	}
	return f
}()

func lookupHWC[T Word](dst []T, src []uint8, ch int, tables []T) int {
	n := len(src) / 24 * 24
	if n == 0 || ch >= len(firsts) || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_, _ = dst[n-1], tables[ch*256-1]
	d, t := (*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&tables[0]))
	switch unsafe.Sizeof(dst[0]) {
	case 4:
		lookupHWC4AVX2(d, &src[0], n, t, &firsts[ch])
	case 2:
		lookupHWC2AVX2(d, &src[0], n, t, &firsts[ch])
	case 1:
		lookupHWC1AVX2(d, &src[0], n, t, &firsts[ch])
	default:
		return 0
	}
	return n
}

// pixelsBlock is how many pixels the functions of Deinterleave and Interleave move at
// once, 0 where there is none.
func pixelsBlock(size uintptr, ch int) int {
	switch {
	case !cpu.Has(cpu.AVX2):
	case size == 1 && (ch == 3 || ch == 4):
		return 32
	case size == 4 && ch == 3:
		return 8
	}
	return 0
}

func deinterleave[T Word](dst []T, plane int, src []T, ch int) int {
	size := unsafe.Sizeof(dst[0])
	k := pixelsBlock(size, ch)
	if k == 0 {
		return 0
	}
	n := len(src) / ch / k * k
	if n == 0 {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	_ = src[ch*n-1]
	d, s := (*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0]))
	switch {
	case size == 4:
		deinterleave3x4AVX2(d, 4*plane, s, n)
	case ch == 3:
		deinterleave3AVX2(d, plane, s, n)
	default:
		deinterleave4AVX2(d, plane, s, n)
	}
	return n
}

func interleave[T Word](dst, src []T, plane, ch int) int {
	size := unsafe.Sizeof(dst[0])
	k := pixelsBlock(size, ch)
	if k == 0 {
		return 0
	}
	n := len(dst) / ch / k * k
	if n == 0 {
		return 0
	}
	for c := range ch {
		_ = src[c*plane:][:n]
	}
	_ = dst[ch*n-1]
	d, s := (*byte)(unsafe.Pointer(&dst[0])), (*byte)(unsafe.Pointer(&src[0]))
	switch {
	case size == 4:
		interleave3x4AVX2(d, s, 4*plane, n)
	case ch == 3:
		interleave3AVX2(d, s, plane, n)
	default:
		interleave4AVX2(d, s, plane, n)
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
	if n < 32 || size >= len(reverses) || !cpu.Has(cpu.AVX2) {
		return 0
	}
	last := &dst[n-1]
	if 16%size == 0 {
		n &^= 31
		flip32AVX2(last, &src[0], n, &reverses[size])
		return n
	}
	// What is written before the pixels of one step is written over by the next,
	// and by the caller after the last.
	step := 16 / size * size
	times := (n-16)/step + 1
	flip16AVX2(last, &src[0], times, &reverses[size], step)
	return times * step
}

func normalizeF32(dst, src, mean, std []float32) int {
	n, ch := len(src)/24*24, len(mean)
	if n == 0 || 24%ch != 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	var m, s [24]float32
	for i := range m {
		m[i], s[i] = mean[i%ch], std[i%ch]
	}
	_ = dst[n-1]
	normalizeAVX2(&dst[0], &src[0], n, &m, &s)
	return n
}

func quantizeF32[T uint8 | int8 | uint16 | int16](dst []T, src, scale []float32, zero []int32) int {
	n, ch := len(src)/24*24, len(scale)
	if n == 0 || 24%ch != 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	var s [24]float32
	var z [24]int32
	for i := range s {
		s[i], z[i] = scale[i%ch], zero[i%ch]
	}
	_ = dst[n-1]
	d, one := (*byte)(unsafe.Pointer(&dst[0])), unsafe.Sizeof(dst[0]) == 1
	switch signed := ^T(0) < 0; {
	case one && !signed:
		quantizeUint8AVX2(d, &src[0], n, &s, &z)
	case one:
		quantizeInt8AVX2(d, &src[0], n, &s, &z)
	case !signed:
		quantizeUint16AVX2(d, &src[0], n, &s, &z)
	default:
		quantizeInt16AVX2(d, &src[0], n, &s, &z)
	}
	return n
}
