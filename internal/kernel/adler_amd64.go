//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// adlerRow adds the first bytes of p in assembly and returns how many.
func adlerRow(p []byte, sums *[2]uint32) int {
	n := len(p) &^ 31
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	adlerAVX2(&p[0], n, sums)
	return n
}
