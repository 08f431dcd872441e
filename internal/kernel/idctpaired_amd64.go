//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// Pairs reports whether IDCTRowPaired is faster than IDCTRow. With AVX-512,
// which transforms four blocks at once, it is not.
func Pairs() bool { return cpu.Has(cpu.AVX2) && !cpu.Has(cpu.AVX512) }

// idctRowPaired transforms blocks up to the first whose values exceed its
// range, and returns their number.
func idctRowPaired(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) int {
	if !canTransformRow(8, dst, stride, len(blocks), last) {
		return 0
	}
	return idctRowPairedAVX2(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
}
