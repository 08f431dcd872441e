//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// lookupCHW1Pixels is the number of pixels that lookupCHW3x1SIMD and
// lookupCHW4x1SIMD process at a time.
const lookupCHW1Pixels = 8

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

// flipRow processes all bytes in assembly, or none, and returns how many.
func flipRow(dst, src []uint8, size int) int {
	n := len(src)
	if n == 0 || size > 16 || !hasSIMD() {
		return 0
	}
	dst = dst[:n]
	switch vbmi := cpu.Has(cpu.VBMI); {
	case vbmi && n < 64 && cpu.Has(cpu.BMI2):
		flipShortVBMI(&dst[0], &src[0], n, &reverses64[size][1])
		return n
	case vbmi && n >= 64:
		step := 64 / size * size
		flip64VBMI(&dst[0], &src[0], n, &reverses64[size], step, (n-64)/step+1)
		return n
	case n < 16:
		return 0
	}
	if m := n &^ 31; m > 0 && 16%size == 0 {
		flip32AVX2(&dst[n-1], &src[0], m, &reverses[size])
		if m == n {
			return n
		}
		dst, src = dst[:32], src[n-32:]
	}
	step := 16 / size * size
	flip16AVX2(&dst[0], &src[0], len(src), &reverses[size], step, (len(src)-16)/step+1)
	return n
}

// reverses64 is reverses for 64 bytes.
var reverses64 = func() (r [17][2][64]uint8) {
	for size := 1; size < len(r); size++ {
		reverse(r[size][0][:], r[size][1][:], size)
	}
	return r
}()
