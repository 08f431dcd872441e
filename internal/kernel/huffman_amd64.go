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
	if r.Marks != nil {
		_ = r.Marks[r.X:r.Limit]
	}
	for i := range r.To[:r.MCU] {
		to := &r.To[i]
		n := (r.Limit - 1) * to.Step
		_, _, _ = to.Blocks[r.X*to.Step:][n-r.X*to.Step], to.Last[r.X*to.Step:][n-r.X*to.Step], r.Pred[to.Comp]
		_, _ = to.DC.Look[0], to.AC.Look[0]
	}
	huffDecodeBMI2((*byte)(unsafe.Pointer(r)))
	return true
}

// stuffBlock is the number of bytes that the assembly needs: a block of 32 and
// the byte after it.
const stuffBlock = 33

// findMarker returns an index before which no marker begins.
func findMarker(b []byte) int {
	if len(b) < stuffBlock || !cpu.Has(cpu.AVX2) {
		return 0
	}
	return findMarkerAVX2(&b[0], len(b))
}

// unstuff copies the first bytes of src without stuffed zeros.
func unstuff(dst, src []byte) (written, read int) {
	if len(src) < stuffBlock || !cpu.Has(cpu.AVX2) {
		return 0, 0
	}
	_ = dst[:len(src)]
	return unstuffAVX2(&dst[0], &src[0], len(src))
}
