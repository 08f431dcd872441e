//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// idctRow is IDCTRow if there is assembly for it, and says so.
func idctRow(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !cpu.Has(cpu.AVX2) || uint(stride) > uint(len(dst)) {
		return false
	}
	n := len(blocks)
	_, _ = dst[7*stride+8*n-1], last[n-1]
	idctRowAVX2(&dst[0], stride, &blocks[0], quant, &last[0], n)
	return true
}

// yccToRGB converts the first pixels by assembly and gives their number.
func yccToRGB(dst, y, cb, cr []byte) int {
	n := len(y) &^ 15
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	yccToRGBAVX2(&dst[0], &y[0], &cb[0], &cr[0], n)
	return n
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
