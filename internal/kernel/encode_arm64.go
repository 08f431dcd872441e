//go:build !purego

package kernel

// The least numbers of blocks and pixels that the assembly converts.
const (
	fdctLeast     = 1
	rgbToYCCLeast = 16
)

// fdctRowSIMD runs FDCTRow on n blocks, n > 0. d points to a Divisors.
//
//go:noescape
func fdctRowSIMD(blocks *[64]int16, masks *uint64, src *byte, stride int, d *byte, n int)

// rgbToYCCSIMD converts n pixels, n >= 16.
//
//go:noescape
func rgbToYCCSIMD(y, cb, cr, rgb *byte, n int)

// downsampleH2V1SIMD averages to n samples, n >= 16 and even.
//
//go:noescape
func downsampleH2V1SIMD(dst, a *byte, n int)

// downsampleH2V2SIMD averages to n samples, n >= 16 and even.
//
//go:noescape
func downsampleH2V2SIMD(dst, a, b *byte, n int)
