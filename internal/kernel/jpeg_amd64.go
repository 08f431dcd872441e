//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// idctBlocks transforms blocks if there is assembly for it, and says so.
func idctBlocks(blocks []Block) bool {
	if !cpu.Has(cpu.AVX2) {
		return false
	}
	for len(blocks) > 0 {
		// The last of an odd number goes twice.
		a := &blocks[0]
		b := a
		if len(blocks) > 1 {
			b = &blocks[1]
		}
		_, _ = a.Dst[7*a.Stride+7], b.Dst[7*b.Stride+7]
		idctPairAVX2(&a.Dst[0], a.Stride, a.Coef, a.Quant, &b.Dst[0], b.Stride, b.Coef, b.Quant)
		blocks = blocks[min(2, len(blocks)):]
	}
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
