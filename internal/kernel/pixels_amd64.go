//go:build !purego

package kernel

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
