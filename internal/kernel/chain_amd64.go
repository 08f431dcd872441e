//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// chain is Chain with vector instructions. It reports false without them.
func chain(dst, x []float32, at []int, k []float32, fused bool) bool {
	switch {
	case fused && cpu.Has(cpu.FMA):
		chainFMA(&dst[0], len(dst), &x[0], &at[0], &k[0], len(k))
	case !fused && cpu.Has(cpu.AVX2):
		chainAVX2(&dst[0], len(dst), &x[0], &at[0], &k[0], len(k))
	default:
		return false
	}
	return true
}
