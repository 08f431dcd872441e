//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// huffRefine runs ACRefine in assembly and reports whether it did.
func huffRefine(r *HuffReader, band *HuffBand) bool {
	if !fastPDEP || !cpu.Has(cpu.BMI2) {
		return false
	}
	if band.First < 1 || band.First > band.Last || band.Last > 63 || band.Shift < 0 || band.Shift > 14 {
		return false
	}
	to := &r.To[0]
	// The assembly reads and writes only within these bounds.
	_ = r.Buf[r.Pos : r.Stop+HuffBlockBytes]
	_, _ = to.Blocks[r.X:r.Limit], band.Masks[r.X:r.Limit]
	_ = to.AC.Look[0]
	huffRefineBMI2((*byte)(unsafe.Pointer(r)), (*byte)(unsafe.Pointer(band)))
	return true
}

// fastPDEP reports whether PDEP takes the same few cycles for every mask. The
// processors of AMD before Zen 3 (family 0x19) take some for each of its bits.
var fastPDEP = func() bool {
	const intel = 'G' | 'e'<<8 | 'n'<<16 | 'u'<<24
	_, vendor := cpuid(0)
	version, _ := cpuid(1)
	return vendor == intel || version>>8&15+version>>20&0xFF >= 0x19
}()
