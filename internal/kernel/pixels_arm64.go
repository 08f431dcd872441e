//go:build !purego

package kernel

import "unsafe"

// lookupCHW1Pixels is the number of pixels that lookupCHW3x1SIMD and
// lookupCHW4x1SIMD process at a time.
const lookupCHW1Pixels = 16

// deinterleave3NEON and deinterleave4NEON process n pixels of elements of size
// bytes, n a multiple of 16/size and not 0. plane is in bytes.
//
//go:noescape
func deinterleave3NEON(dst *byte, plane int, src *byte, n, size int)

//go:noescape
func deinterleave4NEON(dst *byte, plane int, src *byte, n, size int)

// interleave3NEON and interleave4NEON are the inverses.
//
//go:noescape
func interleave3NEON(dst, src *byte, plane, n, size int)

//go:noescape
func interleave4NEON(dst, src *byte, plane, n, size int)

// lookupCHW3x4SIMD and the next three process n pixels, a multiple of 8 and not
// 0. The name holds the number of channels and the bytes of an entry. plane is
// in bytes.
//
//go:noescape
func lookupCHW3x4SIMD(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW4x4SIMD(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW3x2SIMD(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW4x2SIMD(dst *byte, plane int, src *byte, n int, tables *byte)

// lookupCHW3x1SIMD and lookupCHW4x1SIMD process n pixels, a multiple of 16 and
// not 0.
//
//go:noescape
func lookupCHW3x1SIMD(dst *byte, plane int, src *byte, n int, tables *byte)

//go:noescape
func lookupCHW4x1SIMD(dst *byte, plane int, src *byte, n int, tables *byte)

// lookupHWC1x4SIMD and the next five process n elements, not 0: a multiple of
// 24 for three channels, else of 8.
//
//go:noescape
func lookupHWC1x4SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC3x4SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC4x4SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC1x2SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC3x2SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC4x2SIMD(dst, src *byte, n int, tables *byte)

// lookupHWC1x1SIMD and the next two process n pixels, a multiple of 16 and not
// 0.
//
//go:noescape
func lookupHWC1x1SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC3x1SIMD(dst, src *byte, n int, tables *byte)

//go:noescape
func lookupHWC4x1SIMD(dst, src *byte, n int, tables *byte)

// flipNEON permutes 16 bytes by order, times times. Each time it advances src
// by step bytes and moves back by as many from last, the last byte of the
// output.
//
//go:noescape
func flipNEON(last, src *byte, times int, order *[16]uint8, step int)

// normalizeSIMD processes n elements, a multiple of 24 and not 0.
//
//go:noescape
func normalizeSIMD(dst, src *float32, n int, mean, std *[24]float32)

// quantizeUint8SIMD and the next three process n elements, a multiple of 24 and
// not 0.
//
//go:noescape
func quantizeUint8SIMD(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

//go:noescape
func quantizeInt8SIMD(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

//go:noescape
func quantizeUint16SIMD(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

//go:noescape
func quantizeInt16SIMD(dst *byte, src *float32, n int, scale *[24]float32, zero *[24]int32)

// lookupWide has no use here: lookupCHW is as fast.
func lookupWide[T Word](_ []T, _ int, _ []uint8, _ int, _ []T) int { return 0 }

// lookupHWC processes the first elements in assembly and returns how many.
func lookupHWC[T Word](dst []T, src []uint8, ch int, tables []T) int {
	if ch != 1 && ch != 3 && ch != 4 || !hasSIMD() {
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
	d, s, t := bytePointer(&dst[0]), &src[0], bytePointer(&tables[0])
	switch {
	case size == 4 && ch == 1:
		lookupHWC1x4SIMD(d, s, n, t)
	case size == 4 && ch == 3:
		lookupHWC3x4SIMD(d, s, n, t)
	case size == 4:
		lookupHWC4x4SIMD(d, s, n, t)
	case size == 2 && ch == 1:
		lookupHWC1x2SIMD(d, s, n, t)
	case size == 2 && ch == 3:
		lookupHWC3x2SIMD(d, s, n, t)
	case size == 2:
		lookupHWC4x2SIMD(d, s, n, t)
	case size == 1 && ch == 1:
		lookupHWC1x1SIMD(d, s, n, t)
	case size == 1 && ch == 3:
		lookupHWC3x1SIMD(d, s, n/3, t)
	case size == 1:
		lookupHWC4x1SIMD(d, s, n/4, t)
	default:
		return 0
	}
	return n
}

// transposeBlock is the number of pixels that deinterleaveSIMD and
// interleaveSIMD process at a time, 0 for pixels they do not support.
func transposeBlock(size, ch int) int {
	if ch != 3 && ch != 4 {
		return 0
	}
	return 16 / size
}

// deinterleaveSIMD writes n pixels of ch elements of size bytes as planes that
// are plane bytes apart.
func deinterleaveSIMD(dst *byte, plane int, src *byte, n, size, ch int) {
	if ch == 3 {
		deinterleave3NEON(dst, plane, src, n, size)
	} else {
		deinterleave4NEON(dst, plane, src, n, size)
	}
}

// interleaveSIMD is the inverse of deinterleaveSIMD.
func interleaveSIMD(dst, src *byte, plane, n, size, ch int) {
	if ch == 3 {
		interleave3NEON(dst, src, plane, n, size)
	} else {
		interleave4NEON(dst, src, plane, n, size)
	}
}

// flipRow processes the first bytes in assembly and returns how many.
func flipRow(dst, src []uint8, size int) int {
	n := len(src)
	if n < 16 || size >= len(reverses) || !hasSIMD() {
		return 0
	}
	// A step also writes bytes before its pixels. The next step overwrites
	// them, and the caller overwrites those of the last step.
	step := 16 / size * size
	times := (n-16)/step + 1
	flipNEON(&dst[n-1], &src[0], times, &reverses[size][0], step)
	return times * step
}
