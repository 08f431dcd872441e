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
