//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// huffDecode runs Decode in assembly and reports whether it did.
func huffDecode(r *HuffReader) bool {
	if !cpu.Has(cpu.BMI2) {
		return false
	}
	// The assembly reads and writes only within these bounds.
	_ = r.Buf[r.Pos : r.Stop+r.MCU*HuffBlockBytes]
	for i := range r.To[:r.MCU] {
		to := &r.To[i]
		n := (r.Limit - 1) * to.Step
		_, _, _ = to.Blocks[r.X*to.Step:][n-r.X*to.Step], to.Last[r.X*to.Step:][n-r.X*to.Step], r.Pred[to.Comp]
		_, _ = to.DC.Look[0], to.AC.Look[0]
	}
	huffDecodeBMI2((*byte)(unsafe.Pointer(r)))
	return true
}
