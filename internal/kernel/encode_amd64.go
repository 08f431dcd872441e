//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// The least numbers of blocks and pixels that the assembly converts.
const (
	fdctLeast     = 2
	rgbToYCCLeast = 32
)

// huffRow runs HuffWriter.Row if the processor can, and reports whether it did.
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
