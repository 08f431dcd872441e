//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// The functions below run a whole operation in assembly and report whether they
// did.

// fdctRow is FDCTRow.
func fdctRow(blocks [][64]int16, masks []uint64, src []byte, stride int, d *Divisors) bool {
	n := len(blocks)
	if n < 2 || !cpu.Has(cpu.AVX2) || uint(stride) > uint(len(src)) {
		return false
	}
	_, _ = masks[n-1], src[7*stride+8*n-1]
	fdctRowAVX2(&blocks[0], &masks[0], &src[0], stride, (*byte)(unsafe.Pointer(d)), n)
	return true
}

// rgbToYCC is RGBToYCC.
func rgbToYCC(y, cb, cr, rgb []byte) bool {
	n := len(y)
	if n < 32 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _, _ = cb[n-1], cr[n-1], rgb[3*n-1]
	rgbToYCCAVX2(&y[0], &cb[0], &cr[0], &rgb[0], n)
	return true
}

// downsampleH2V1 is DownsampleH2V1.
func downsampleH2V1(dst, a []byte) bool {
	n := len(dst)
	if n < 16 || n%2 != 0 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_ = a[2*n-1]
	downsampleH2V1AVX2(&dst[0], &a[0], n)
	return true
}

// downsampleH2V2 is DownsampleH2V2.
func downsampleH2V2(dst, a, b []byte) bool {
	n := len(dst)
	if n < 16 || n%2 != 0 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _ = a[2*n-1], b[2*n-1]
	downsampleH2V2AVX2(&dst[0], &a[0], &b[0], n)
	return true
}

// huffRow runs HuffWriter.Row.
func huffRow(w *HuffWriter) bool {
	if !cpu.Has(cpu.BMI2) || !hasLZCNT {
		return false
	}
	// The assembly reads and writes only within these bounds.
	_ = w.Buf[w.N : w.stop+w.MCU*HuffBlockSpace]
	_ = w.Codes[0]
	for i := range w.From[:w.MCU] {
		s := &w.From[i]
		n := (w.Limit - 1) * s.Step
		_, _, _ = s.Blocks[w.X*s.Step:][n-w.X*s.Step], s.Masks[w.X*s.Step:][n-w.X*s.Step], w.Pred[s.Comp]
		_ = w.Codes[TokenAC+256*s.Table]
	}
	huffRowBMI2((*byte)(unsafe.Pointer(w)))
	return true
}

// hasLZCNT reports whether the processor has LZCNT, as all do that have BMI2. A
// virtual machine could hide it; the instruction would then be another.
var hasLZCNT = cpu.Has(cpu.BMI2) && leadingZeros(1) == 63
