//go:build !purego

package kernel

// idctRowSIMD is IDCTRow for n blocks, n > 0.
//
//go:noescape
func idctRowSIMD(dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int)

// idctRow4SIMD is IDCTRow4 for n blocks, n > 0.
//
//go:noescape
func idctRow4SIMD(dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int)

// idctRow2NEON is IDCTRow2 for n blocks, n > 0.
//
//go:noescape
func idctRow2NEON(dst *byte, stride int, coef, quant *[64]int16, n int)

// idctRow2SIMD is IDCTRow2 for n blocks, n > 0. It does not need last.
func idctRow2SIMD(dst *byte, stride int, coef, quant *[64]int16, _ *uint8, n int) {
	idctRow2NEON(dst, stride, coef, quant, n)
}

// yccToRGBSIMD converts n pixels, n >= 16.
//
//go:noescape
func yccToRGBSIMD(dst, y, cb, cr *byte, n int)

// upsampleH2V1SIMD doubles n samples, n >= 16, and reads the sample on either
// side of them.
//
//go:noescape
func upsampleH2V1SIMD(dst, src *byte, n int)

// upsampleH1V2SIMD mixes n samples of two rows, n >= 16.
//
//go:noescape
func upsampleH1V2SIMD(dst, near, far *byte, n, bias int)

// upsampleH2V2SIMD is upsampleH2V1SIMD for two rows.
//
//go:noescape
func upsampleH2V2SIMD(dst, near, far *byte, n int)
