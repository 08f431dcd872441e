//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// vp8Reads reports whether the assembly of Read may run. It needs LZCNT, which
// package cpu does not know. Without it the instruction has another meaning.
var vp8Reads = cpu.Has(cpu.BMI2) && vp8LeadingZeros(1) == 31

// vp8Read runs Read in assembly and reports whether it did.
func vp8Read(m *VP8Macroblock, r *VP8Reader) bool {
	if !vp8Reads || !cpu.Has(cpu.BMI2) {
		return false
	}
	_, _, _ = m.Probs[0], m.Quant[0], m.Above[0]
	_ = r.Buf[r.Pos:]
	vp8ReadBMI2((*byte)(unsafe.Pointer(m)), (*byte)(unsafe.Pointer(r)))
	return true
}

// vp8Modes runs VP8Modes in assembly and reports whether it did.
func vp8Modes(r *VP8Reader, probs *VP8ModeProbs, above, left *[4]uint8, modes *[16]uint8) bool {
	if !vp8Reads || !cpu.Has(cpu.BMI2) {
		return false
	}
	for i, a := range above {
		_, _ = probs[a], probs[left[i]]
	}
	_ = r.Buf[r.Pos:]
	vp8ModesBMI2((*byte)(unsafe.Pointer(r)), &probs[0][0], above, left, modes)
	return true
}

func vp8FilterSimple([]byte, int, int, *VP8Filter) bool { return false }
