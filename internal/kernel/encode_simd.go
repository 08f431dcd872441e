//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

// The functions below run a whole operation in assembly and report whether they
// did.

// fdctRow is FDCTRow.
func fdctRow(blocks [][64]int16, masks []uint64, src []byte, stride int, d *Divisors) bool {
	n := len(blocks)
	if n < fdctLeast || !hasSIMD() || uint(stride) > uint(len(src)) {
		return false
	}
	_, _ = masks[n-1], src[7*stride+8*n-1]
	fdctRowSIMD(&blocks[0], &masks[0], &src[0], stride, (*byte)(unsafe.Pointer(d)), n)
	return true
}

// rgbToYCC is RGBToYCC.
func rgbToYCC(y, cb, cr, rgb []byte) bool {
	n := len(y)
	if n < rgbToYCCLeast || !hasSIMD() {
		return false
	}
	_, _, _ = cb[n-1], cr[n-1], rgb[3*n-1]
	rgbToYCCSIMD(&y[0], &cb[0], &cr[0], &rgb[0], n)
	return true
}

// downsampleH2V1 is DownsampleH2V1.
func downsampleH2V1(dst, a []byte) bool {
	n := len(dst)
	if n < 16 || n%2 != 0 || !hasSIMD() {
		return false
	}
	_ = a[2*n-1]
	downsampleH2V1SIMD(&dst[0], &a[0], n)
	return true
}

// downsampleH2V2 is DownsampleH2V2.
func downsampleH2V2(dst, a, b []byte) bool {
	n := len(dst)
	if n < 16 || n%2 != 0 || !hasSIMD() {
		return false
	}
	_, _ = a[2*n-1], b[2*n-1]
	downsampleH2V2SIMD(&dst[0], &a[0], &b[0], n)
	return true
}
