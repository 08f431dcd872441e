//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

// The functions below process the first pixels, elements or bytes in assembly
// and return how many they processed.

func lookupCHW[T Word](dst []T, plane int, src []uint8, ch int, tables []T) int {
	if n := lookupWide(dst, plane, src, ch, tables); n > 0 {
		return n
	}
	size := int(unsafe.Sizeof(dst[0]))
	n := len(src) / ch &^ 7
	if size == 1 {
		n = n / lookupCHW1Pixels * lookupCHW1Pixels
	}
	if n == 0 || plane < 0 || (ch != 3 && ch != 4) || !hasSIMD() {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	_, _ = src[ch*n-1], tables[ch*256-1]
	d, t := bytePointer(&dst[0]), bytePointer(&tables[0])
	plane *= size
	switch {
	case size == 4 && ch == 3:
		lookupCHW3x4SIMD(d, plane, &src[0], n, t)
	case size == 4:
		lookupCHW4x4SIMD(d, plane, &src[0], n, t)
	case size == 2 && ch == 3:
		lookupCHW3x2SIMD(d, plane, &src[0], n, t)
	case size == 2:
		lookupCHW4x2SIMD(d, plane, &src[0], n, t)
	case size == 1 && ch == 3:
		lookupCHW3x1SIMD(d, plane, &src[0], n, t)
	case size == 1:
		lookupCHW4x1SIMD(d, plane, &src[0], n, t)
	default:
		return 0
	}
	return n
}

func deinterleave[T Word](dst []T, plane int, src []T, ch int) int {
	size := int(unsafe.Sizeof(dst[0]))
	n := wholeBlocks(len(src), size, ch)
	if n == 0 || plane < 0 {
		return 0
	}
	for c := range ch {
		_ = dst[c*plane:][:n]
	}
	_ = src[ch*n-1]
	deinterleaveSIMD(bytePointer(&dst[0]), size*plane, bytePointer(&src[0]), n, size, ch)
	return n
}

func interleave[T Word](dst, src []T, plane, ch int) int {
	size := int(unsafe.Sizeof(dst[0]))
	n := wholeBlocks(len(dst), size, ch)
	if n == 0 || plane < 0 {
		return 0
	}
	for c := range ch {
		_ = src[c*plane:][:n]
	}
	_ = dst[ch*n-1]
	interleaveSIMD(bytePointer(&dst[0]), bytePointer(&src[0]), size*plane, n, size, ch)
	return n
}

// wholeBlocks returns how many of the pixels in that many elements of size
// bytes fill whole blocks of the assembly, or 0 if there is no assembly for
// them.
func wholeBlocks(elements, size, ch int) int {
	block := transposeBlock(size, ch)
	if block == 0 || !hasSIMD() {
		return 0
	}
	return elements / ch / block * block
}

// reverses[size] holds the orders of bytes that reverse the whole pixels of
// size bytes in 16 bytes. The first takes the pixels at the start and moves
// them to the end. The second takes those at the end and moves them to the
// start; the other bytes have 0x80 there.
var reverses = func() (r [17][2][16]uint8) {
	for size := 1; size < len(r); size++ {
		reverse(r[size][0][:], r[size][1][:], size)
	}
	return r
}()

// reverse makes an entry of reverses.
func reverse(first, second []uint8, size int) {
	n := len(first)
	whole := n / size * size
	for i := range n {
		if second[i] = 0x80; i < whole {
			at := whole - size - i/size*size + i%size
			first[n-whole+i], second[i] = uint8(at), uint8(n-whole+at)
		}
	}
}

func normalizeF32(dst, src, mean, std []float32) int {
	n, ch := len(src)/24*24, len(mean)
	if n == 0 || 24%ch != 0 || !hasSIMD() {
		return 0
	}
	var m, s [24]float32
	for i := range m {
		m[i], s[i] = mean[i%ch], std[i%ch]
	}
	_ = dst[n-1]
	normalizeSIMD(&dst[0], &src[0], n, &m, &s)
	return n
}

func quantizeF32[T uint8 | int8 | uint16 | int16](dst []T, src, scale []float32, zero []int32) int {
	n, ch := len(src)/24*24, len(scale)
	if n == 0 || 24%ch != 0 || !hasSIMD() {
		return 0
	}
	var s [24]float32
	var z [24]int32
	for i := range s {
		s[i], z[i] = scale[i%ch], zero[i%ch]
	}
	_ = dst[n-1]
	d, one := bytePointer(&dst[0]), unsafe.Sizeof(dst[0]) == 1
	switch signed := ^T(0) < 0; {
	case one && !signed:
		quantizeUint8SIMD(d, &src[0], n, &s, &z)
	case one:
		quantizeInt8SIMD(d, &src[0], n, &s, &z)
	case !signed:
		quantizeUint16SIMD(d, &src[0], n, &s, &z)
	default:
		quantizeInt16SIMD(d, &src[0], n, &s, &z)
	}
	return n
}
