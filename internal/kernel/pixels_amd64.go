//go:build !purego

package kernel

import "unsafe"

// lookupCHW1Pixels is the number of pixels that lookupCHW3x1SIMD and
// lookupCHW4x1SIMD process at a time.
const lookupCHW1Pixels = 8

// firstEntries[ch] holds the first entries of the tables of 24 interleaved
// elements of ch channels.
var firstEntries = func() (f [5][24]int32) {
	for ch := 1; ch < len(f); ch++ {
		for i := range f[ch] {
			f[ch][i] = int32(i % ch * 256)
		}
	}
	return f
}()

// lookupHWC processes the first elements in assembly and returns how many.
func lookupHWC[T Word](dst []T, src []uint8, ch int, tables []T) int {
	n := len(src) / 24 * 24
	if n == 0 || ch >= len(firstEntries) || !hasSIMD() {
		return 0
	}
	_, _ = dst[n-1], tables[ch*256-1]
	d, t := bytePointer(&dst[0]), bytePointer(&tables[0])
	switch unsafe.Sizeof(dst[0]) {
	case 4:
		lookupHWC4AVX2(d, &src[0], n, t, &firstEntries[ch])
	case 2:
		lookupHWC2AVX2(d, &src[0], n, t, &firstEntries[ch])
	case 1:
		lookupHWC1AVX2(d, &src[0], n, t, &firstEntries[ch])
	default:
		return 0
	}
	return n
}

// transposeBlock is the number of pixels that deinterleaveSIMD and
// interleaveSIMD process at a time, 0 for pixels they do not support.
func transposeBlock(size, ch int) int {
	switch {
	case size == 1 && (ch == 3 || ch == 4):
		return 32
	case size == 4 && ch == 3:
		return 8
	}
	return 0
}

// deinterleaveSIMD writes n pixels of ch elements of size bytes as planes that
// are plane bytes apart.
func deinterleaveSIMD(dst *byte, plane int, src *byte, n, size, ch int) {
	switch {
	case size == 4:
		deinterleave3x4AVX2(dst, plane, src, n)
	case ch == 3:
		deinterleave3AVX2(dst, plane, src, n)
	default:
		deinterleave4AVX2(dst, plane, src, n)
	}
}

// interleaveSIMD is the inverse of deinterleaveSIMD.
func interleaveSIMD(dst, src *byte, plane, n, size, ch int) {
	switch {
	case size == 4:
		interleave3x4AVX2(dst, src, plane, n)
	case ch == 3:
		interleave3AVX2(dst, src, plane, n)
	default:
		interleave4AVX2(dst, src, plane, n)
	}
}

// flipRow processes the first bytes in assembly and returns how many.
func flipRow(dst, src []uint8, size int) int {
	n := len(src)
	if n < 32 || size >= len(reverses) || !hasSIMD() {
		return 0
	}
	last := &dst[n-1]
	if 16%size == 0 {
		n &^= 31
		flip32AVX2(last, &src[0], n, &reverses[size])
		return n
	}
	// A step also writes bytes before its pixels. The next step overwrites
	// them, and the caller overwrites those of the last step.
	step := 16 / size * size
	times := (n-16)/step + 1
	flip16AVX2(last, &src[0], times, &reverses[size], step)
	return times * step
}
