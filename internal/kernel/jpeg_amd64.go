//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// hasRow says whether the assembly of a row function with outputs of size x size
// samples may run, and panics if a slice is too short.
func hasRow(size int, dst []byte, stride, n int, last []uint8) bool {
	if !cpu.Has(cpu.AVX2) || uint(stride) > uint(len(dst)) {
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
	if cpu.Has(cpu.AVX512) {
		idctRowAVX512(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	} else {
		idctRowAVX2(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	}
	return true
}

// idctRow4 is IDCTRow4 if there is assembly for it, and says so.
func idctRow4(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !hasRow(4, dst, stride, len(blocks), last) {
		return false
	}
	idctRow4AVX2(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// idctRow2 is IDCTRow2 if there is assembly for it, and says so.
func idctRow2(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !hasRow(2, dst, stride, len(blocks), last) {
		return false
	}
	idctRow2AVX2(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// yccToRGB is YCCToRGB, if there is assembly for it, and says so.
func yccToRGB(dst, y, cb, cr []byte) bool {
	n := len(y)
	if n < 16 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	if n < 32 {
		yccToRGBx16(&dst[0], &y[0], &cb[0], &cr[0], n)
	} else {
		yccToRGBx32(&dst[0], &y[0], &cb[0], &cr[0], n)
	}
	return true
}

// yccToPlanes is YCCToRGBPlanar, if there is assembly for it, and says so.
func yccToPlanes(r, g, b, y, cb, cr []byte) bool {
	n := len(y)
	if n < 16 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _, _, _, _ = r[n-1], g[n-1], b[n-1], cb[n-1], cr[n-1]
	if n < 32 {
		yccToPlanesx16(&r[0], &g[0], &b[0], &y[0], &cb[0], &cr[0], n)
	} else {
		yccToPlanesx32(&r[0], &g[0], &b[0], &y[0], &cb[0], &cr[0], n)
	}
	return true
}

// upsampleH2V1 makes all pairs of dst but the first and the last, if there is
// assembly for it, and says so. It has a vector or more of samples.
func upsampleH2V1(dst, src []byte) bool {
	n := len(src) - 2
	if n < 16 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_ = dst[2*n+1]
	if n < 32 {
		upsampleH2V1x16(&dst[2], &src[1], n)
	} else {
		upsampleH2V1x32(&dst[2], &src[1], n)
	}
	return true
}

// upsampleH2V2 is like upsampleH2V1, of two rows.
func upsampleH2V2(dst, near, far []byte) bool {
	n := len(near) - 2
	if n < 16 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _ = dst[2*n+1], far[n+1]
	if n < 32 {
		upsampleH2V2x16(&dst[2], &near[1], &far[1], n)
	} else {
		upsampleH2V2x32(&dst[2], &near[1], &far[1], n)
	}
	return true
}

// upsampleH1V2 mixes two rows, if there is assembly for it, and says so.
func upsampleH1V2(dst, near, far []byte, bias int) bool {
	n := len(dst)
	if n < 16 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _ = near[n-1], far[n-1]
	if n < 32 {
		upsampleH1V2x16(&dst[0], &near[0], &far[0], n, bias)
	} else {
		upsampleH1V2x32(&dst[0], &near[0], &far[0], n, bias)
	}
	return true
}
