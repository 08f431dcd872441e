//go:build !purego

package kernel

// The numbers of pixels or bytes that the assembly processes at a time.
const (
	cvRow1Pixels      = 8
	cvMixLinearBytes  = 16
	cvCubic1Pixels    = 4
	bytesToFloatBytes = 16
	cvArea1Pixels     = 4
	roundU8Bytes      = 16
	cvHalf1Pixels     = 8
	pickPixels        = 4
)

// Accesses of the assembly beyond its pixels.
const (
	cvRow1Reads  = 2 // bytes that cvRow1SIMD reads at a pixel
	cvHalf3Spare = 0 // output pixels that must follow those of cvHalf3SIMD
)

// cvRow1SIMD computes a row of n pixels, a multiple of 8 and not 0: sums with 7
// fractional bits. It reads 2 bytes at each index of first.
//
//go:noescape
func cvRow1SIMD(dst *int16, src *byte, n int, first, pair *int32)

// cvRow3SIMD computes a row of n pixels of three channels, n a multiple of 4
// and not 0. It reads 8 bytes at each pixel of first and writes one extra sum.
//
//go:noescape
func cvRow3SIMD(dst *int16, src *byte, n int, first, pair *int32)

// cvRow4SIMD is cvRow3SIMD for four channels. It writes no extra sum.
//
//go:noescape
func cvRow4SIMD(dst *int16, src *byte, n int, first, pair *int32)

// cvMixLinearNEON mixes n sums, a multiple of 16 and not 0, with the weights in
// the lowest two words of weights.
//
//go:noescape
func cvMixLinearNEON(dst *byte, a, b *int16, n, weights int)

// cvMixLinearSIMD mixes n sums, a multiple of 16 and not 0.
func cvMixLinearSIMD(dst *byte, a, b *int16, n int, t, u int32) {
	cvMixLinearNEON(dst, a, b, n, int(t|u<<16))
}

// bytesToFloatSIMD converts n bytes, a multiple of 16 and not 0.
//
//go:noescape
func bytesToFloatSIMD(dst *float32, src *byte, n int)

// cvArea1SIMD computes n sums, a multiple of 4 and not 0, of k products each.
// The weights of consecutive terms of a sum are line apart.
//
//go:noescape
func cvArea1SIMD(dst, row *float32, n int, first *int32, w *float32, k, line int)

// cvArea3SIMD computes the three sums of k products of n pixels, n > 0. It
// reads and writes one extra number.
//
//go:noescape
func cvArea3SIMD(dst, row *float32, n int, first *int32, w *float32, k int)

// cvArea4SIMD is cvArea3SIMD for four channels. It reads and writes nothing
// extra.
//
//go:noescape
func cvArea4SIMD(dst, row *float32, n int, first *int32, w *float32, k int)

// scaleNEON and addScaledNEON process n elements, a multiple of 8 and not 0.
//
//go:noescape
func scaleNEON(sum, buf *float32, n int, w float32)

//go:noescape
func addScaledNEON(sum, buf *float32, n int, w float32)

// addScaledSIMD is addScaled for n elements, a multiple of 8 and not 0.
func addScaledSIMD(sum, buf *float32, n int, w float32, first bool) {
	if first {
		scaleNEON(sum, buf, n, w)
	} else {
		addScaledNEON(sum, buf, n, w)
	}
}

// roundU8SIMD rounds n numbers, a multiple of 16 and not 0.
//
//go:noescape
func roundU8SIMD(dst *byte, src *float32, n int)

// cvHalf1SIMD, cvHalf3SIMD and cvHalf4SIMD average n blocks of 2 x 2 pixels, n
// a multiple of 8 and not 0.
//
//go:noescape
func cvHalf1SIMD(dst, a, b *byte, n int)

//go:noescape
func cvHalf3SIMD(dst, a, b *byte, n int)

//go:noescape
func cvHalf4SIMD(dst, a, b *byte, n int)

// pick1SIMD, pick3SIMD and pick4SIMD copy n pixels, a multiple of 4 and not 0.
// pick3SIMD reads and writes one extra byte.
//
//go:noescape
func pick1SIMD(dst, src *byte, n int, xs *int32)

//go:noescape
func pick3SIMD(dst, src *byte, n int, xs *int32)

//go:noescape
func pick4SIMD(dst, src *byte, n int, xs *int32)

// sumRowsSIMD sums n columns, a multiple of 16 and not 0, of rows that are
// stride bytes apart.
//
//go:noescape
func sumRowsSIMD(dst *uint16, src *byte, n, rows, stride int)

// sumBlocksSIMD sums k pixels n times and scales the sums. It reads and writes
// four elements at each pixel, whatever ch is.
//
//go:noescape
func sumBlocksSIMD(dst *float32, src *uint16, n, k, ch int, scale float32)

// cvCubic1SIMD computes n sums, a multiple of 4 and not 0, of four adjacent
// taps.
//
//go:noescape
func cvCubic1SIMD(dst *int32, src *byte, n int, first, pairs *int32)

// cvCubic3SIMD computes the three sums of n pixels, a multiple of 2 and not 0,
// of four adjacent taps. It reads 16 bytes at each index of first and writes
// one extra sum.
//
//go:noescape
func cvCubic3SIMD(dst *int32, src *byte, n int, first, pairs *int32)

// cvCubic4SIMD is cvCubic3SIMD for four channels. It writes no extra sum.
//
//go:noescape
func cvCubic4SIMD(dst *int32, src *byte, n int, first, pairs *int32)

// cvMixCubicSIMD mixes n sums of four rows, n a multiple of 8 and not 0.
//
//go:noescape
func cvMixCubicSIMD(dst *byte, a, b, c, d *int32, n int, w *[4]float32)
