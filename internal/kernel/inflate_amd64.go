//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// Run decodes symbols from in[pos:] to out[w:] and returns the new pos and w.
// It stops before a symbol that is not a literal or a match within out, near
// the end of in, and InflateSlack bytes before that of out. It may do nothing.
func (z *Inflate) Run(lit *InflateLit, dist *InflateDist, in []byte, pos int, out []byte, w int) (int, int) {
	if !hasSIMD() || !cpu.Has(cpu.BMI2) || pos < 0 || pos > len(in)-8 || w < 0 || w >= len(out)-InflateSlack || z.N > 63 {
		return pos, w
	}
	_, _ = lit.Entries[0], dist[0]
	z.lit, z.dist = lit, dist
	z.in, z.last = &in[pos], &in[len(in)-8]
	z.out, z.full, z.base = &out[w], &out[len(out)-InflateSlack], &out[0]
	inflateAVX2((*byte)(unsafe.Pointer(z)))
	pos = int(uintptr(unsafe.Pointer(z.in)) - uintptr(unsafe.Pointer(&in[0])))
	w = int(uintptr(unsafe.Pointer(z.out)) - uintptr(unsafe.Pointer(&out[0])))
	*z = Inflate{Bits: z.Bits & (1<<z.N - 1), N: z.N}
	return pos, w
}
