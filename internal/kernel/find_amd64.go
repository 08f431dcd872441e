//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// findBlock is how much findWordAVX2 looks at together.
const findBlock = 128

// findWord is a place of b before which w is not. Short slices are left to plain Go.
func findWord(b []byte, w uint32) int {
	n := len(b) / findBlock * findBlock
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	return findWordAVX2(&b[0], n, w)
}
