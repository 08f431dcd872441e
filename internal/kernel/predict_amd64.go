//go:build !purego && !small

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// addLeft16 processes the first bytes of a row of pixels of 3 samples in
// assembly and returns how many.
func addLeft16(row []byte) int {
	n := max(0, len(row)-4) / 12 * 12
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	addLeft16AVX2(&row[0], n)
	return n
}
