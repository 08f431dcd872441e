//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// lzwGroup is the number of codes that the assembly decodes without checking
// its bounds. Each writes 8 bytes, if not more.
const lzwGroup = 4

// HasLZW reports whether Run decodes anything.
func HasLZW() bool { return cpu.Has(cpu.BMI2) }

// Run decodes some codes of in and writes their strings to out. The string
// before must have 1 byte or more. Run stops before a code that it leaves to
// the caller, near the ends of in and out, and before Free is most.
func (z *LZW) Run(out, in []byte, most int, highFirst bool) {
	most = min(most, LZWCodes) - 1 - lzwGroup
	inEnd, outEnd := len(in)-8, len(out)-8*lzwGroup
	if !HasLZW() || inEnd < 0 || outEnd < 0 || z.Bit < 0 || z.N < z.LastLen || z.LastLen < 1 || z.Free < z.Clear || z.Width < 1 || z.Width > 14 {
		return
	}
	z.in, z.inEnd, z.out, z.outEnd, z.most = &in[0], inEnd, &out[0], outEnd, most
	if highFirst {
		lzwHighBMI2((*byte)(unsafe.Pointer(z)))
	} else {
		lzwLowBMI2((*byte)(unsafe.Pointer(z)))
	}
	z.in, z.out = nil, nil
}
