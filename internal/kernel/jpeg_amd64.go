//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// The functions below choose the widest assembly that the processor and the
// number of samples allow.

// idctRowSIMD is IDCTRow for n blocks, n > 0.
func idctRowSIMD(dst *byte, stride int, blocks, quant *[64]int16, last *uint8, n int) {
	if cpu.Has(cpu.AVX512) {
		idctRowAVX512(dst, stride, blocks, quant, last, n)
	} else {
		idctRowAVX2(dst, stride, blocks, quant, last, n)
	}
}

// yccToRGBSIMD converts n pixels, n >= 16.
func yccToRGBSIMD(dst, y, cb, cr *byte, n int) {
	if n < 32 {
		yccToRGBx16(dst, y, cb, cr, n)
	} else {
		yccToRGBx32(dst, y, cb, cr, n)
	}
}

// upsampleH2V1SIMD doubles n samples, n >= 16, and reads the sample on either
// side of them.
func upsampleH2V1SIMD(dst, src *byte, n int) {
	if n < 32 {
		upsampleH2V1x16(dst, src, n)
	} else {
		upsampleH2V1x32(dst, src, n)
	}
}

// upsampleH2V2SIMD is upsampleH2V1SIMD for two rows.
func upsampleH2V2SIMD(dst, near, far *byte, n int) {
	if n < 32 {
		upsampleH2V2x16(dst, near, far, n)
	} else {
		upsampleH2V2x32(dst, near, far, n)
	}
}

// upsampleH1V2SIMD mixes n samples of two rows, n >= 16.
func upsampleH1V2SIMD(dst, near, far *byte, n, bias int) {
	if n < 32 {
		upsampleH1V2x16(dst, near, far, n, bias)
	} else {
		upsampleH1V2x32(dst, near, far, n, bias)
	}
}
