//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// idctRowNEON transforms n blocks, at least 1. last is as in IDCTRow.
//
//go:noescape
func idctRowNEON(dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int)

// yccToRGBNEON converts n pixels, a multiple of 16 and not 0.
//
//go:noescape
func yccToRGBNEON(dst, y, cb, cr *byte, n int)

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

// idctRow is IDCTRow if there is assembly for it, and says so.
func idctRow(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !cpu.Has(cpu.NEON) || uint(stride) > uint(len(dst)) {
		return false
	}
	n := len(blocks)
	_, _ = dst[7*stride+8*n-1], last[n-1]
	idctRowNEON(&dst[0], stride, &blocks[0], quant, &last[0], n)
	return true
}

// yccToRGB converts the first pixels by assembly and gives their number. The
// last 16 pixels are done twice where the width is no multiple of 16.
func yccToRGB(dst, y, cb, cr []byte) int {
	n := len(y)
	if n < 16 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	yccToRGBNEON(&dst[0], &y[0], &cb[0], &cr[0], n&^15)
	if i := n - 16; n&15 != 0 {
		yccToRGBNEON(&dst[3*i], &y[i], &cb[i], &cr[i], 16)
	}
	return n
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
