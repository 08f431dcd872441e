//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// idctRowNEON transforms n blocks, at least 1. last is as in IDCTRow.
//
//go:noescape
func idctRowNEON(dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int)

// idctRow4NEON is IDCTRow4 of n blocks, at least 1.
//
//go:noescape
func idctRow4NEON(dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int)

// idctRow2NEON is IDCTRow2 of n blocks, at least 1.
//
//go:noescape
func idctRow2NEON(dst *byte, stride int, coef, quant *[64]int16, n int)

// yccToRGBNEON converts n pixels, 16 or more.
//
//go:noescape
func yccToRGBNEON(dst, y, cb, cr *byte, n int)

// yccToPlanesNEON converts n pixels, 16 or more.
//
//go:noescape
func yccToPlanesNEON(red, green, blue, y, cb, cr *byte, n int)

// upsampleH2V1NEON doubles n samples, 16 or more, which have a neighbour on
// either side.
//
//go:noescape
func upsampleH2V1NEON(dst, src *byte, n int)

// upsampleH1V2NEON mixes n samples, 16 or more.
//
//go:noescape
func upsampleH1V2NEON(dst, near, far *byte, n, bias int)

// upsampleH2V2NEON is as upsampleH2V1NEON.
//
//go:noescape
func upsampleH2V2NEON(dst, near, far *byte, n int)

// hasRow says whether the assembly of a row function with outputs of size x size
// samples may run, and panics if a slice is too short.
func hasRow(size int, dst []byte, stride, n int, last []uint8) bool {
	if !cpu.Has(cpu.NEON) || uint(stride) > uint(len(dst)) {
		return false
	}
	_, _ = dst[(size-1)*stride+size*n-1], last[n-1]
	return true
}

// idctRow is IDCTRow if there is assembly for it, and says so.
func idctRow(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !hasRow(8, dst, stride, len(blocks), last) {
		return false
	}
	idctRowNEON(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// idctRow4 is IDCTRow4 if there is assembly for it, and says so.
func idctRow4(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !hasRow(4, dst, stride, len(blocks), last) {
		return false
	}
	idctRow4NEON(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// idctRow2 is IDCTRow2 if there is assembly for it, and says so.
func idctRow2(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !hasRow(2, dst, stride, len(blocks), last) {
		return false
	}
	idctRow2NEON(&dst[0], stride, &blocks[0], quant, len(blocks))
	return true
}

// yccToRGB is YCCToRGB, if there is assembly for it, and says so.
func yccToRGB(dst, y, cb, cr []byte) bool {
	n := len(y)
	if n < 16 || !cpu.Has(cpu.NEON) {
		return false
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	yccToRGBNEON(&dst[0], &y[0], &cb[0], &cr[0], n)
	return true
}

// yccToPlanes is YCCToRGBPlanar, if there is assembly for it, and says so.
func yccToPlanes(r, g, b, y, cb, cr []byte) bool {
	n := len(y)
	if n < 16 || !cpu.Has(cpu.NEON) {
		return false
	}
	_, _, _, _, _ = r[n-1], g[n-1], b[n-1], cb[n-1], cr[n-1]
	yccToPlanesNEON(&r[0], &g[0], &b[0], &y[0], &cb[0], &cr[0], n)
	return true
}

// upsampleH2V1 makes all pairs of dst but the first and the last, if there is
// assembly for it, and says so.
func upsampleH2V1(dst, src []byte) bool {
	n := len(src) - 2
	if n < 16 || !cpu.Has(cpu.NEON) {
		return false
	}
	_ = dst[2*n+3]
	upsampleH2V1NEON(&dst[2], &src[1], n)
	return true
}

// upsampleH2V2 is like upsampleH2V1, of two rows.
func upsampleH2V2(dst, near, far []byte) bool {
	n := len(near) - 2
	if n < 16 || !cpu.Has(cpu.NEON) {
		return false
	}
	_, _ = dst[2*n+3], far[n+1]
	upsampleH2V2NEON(&dst[2], &near[1], &far[1], n)
	return true
}

// upsampleH1V2 mixes two rows, if there is assembly for it, and says so.
func upsampleH1V2(dst, near, far []byte, bias int) bool {
	n := len(dst)
	if n < 16 || !cpu.Has(cpu.NEON) {
		return false
	}
	_, _ = near[n-1], far[n-1]
	upsampleH1V2NEON(&dst[0], &near[0], &far[0], n, bias)
	return true
}
