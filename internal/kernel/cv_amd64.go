//go:build !purego

package kernel

// The numbers of pixels or bytes that the assembly processes at a time.
const (
	cvRow1Pixels      = 16
	cvMixLinearBytes  = 32
	cvCubic1Pixels    = 8
	bytesToFloatBytes = 8
	cvArea1Pixels     = 8
	roundU8Bytes      = 32
	cvHalf1Pixels     = 32
	pickPixels        = 1
)

// Accesses of the assembly beyond its pixels.
const (
	cvRow1Reads  = 4 // bytes that cvRow1SIMD reads at a pixel
	cvHalf3Spare = 2 // output pixels that must follow those of cvHalf3SIMD
)

// cvMixLinearSIMD mixes n sums, a multiple of 32 and not 0.
func cvMixLinearSIMD(dst *byte, a, b *int16, n int, t, u int32) {
	cvMixLinearAVX2(dst, a, b, n, int16(t), int16(u))
}
