//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// Literals reads pixels until one is not stored as its four channels, and
// returns their number. It leaves those near the end of In to the caller.
func (r *VP8LReader) Literals(pixels []uint32, codes *VP8LCodes) int {
	// 8 bytes are read once before the first pixel and up to twice for each.
	// They add up to 7 bytes each time.
	last := len(r.In) - 24
	if len(pixels) == 0 || r.Pos < 0 || r.Pos > last || !cpu.Has(cpu.BMI2) {
		return 0
	}
	for _, c := range codes {
		_ = c[1<<VP8LFirst-1]
	}
	return vp8lLiteralsBMI2((*byte)(unsafe.Pointer(r)), last, &pixels[0], len(pixels), &codes[0][0], &codes[1][0], &codes[2][0], &codes[3][0])
}
