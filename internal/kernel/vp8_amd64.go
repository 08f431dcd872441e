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

func vp8AddRow(_, _ []byte, _ int, _, _ *[2][16]int16) bool { return false }

func vp8AddBlock([]byte, int, *[16]int16) bool { return false }

func vp8FilterNormal([]byte, int, int, []byte, []byte, int, int, *VP8Filter) bool { return false }

func vp8ToRGB(_, _ []byte, _ *VP8Chroma420, _ int) int { return 0 }

func vp8True([]byte, int, int, int) bool { return false }
