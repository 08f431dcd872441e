//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// findBlock is the number of bytes that findWordAVX2 compares at a time.
const findBlock = 128

// findWord returns an index before the first occurrence of w. It leaves short
// slices to plain Go.
func findWord(b []byte, w uint32) int {
	n := len(b) / findBlock * findBlock
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	return findWordAVX2(&b[0], n, w)
}
