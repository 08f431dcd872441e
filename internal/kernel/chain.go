package kernel

import "github.com/infer-prep/infer-prep/internal/exactmath"

// ChainFMA32 returns the sum of x[i]*k[i] as a chain of float32 fused
// multiply-adds, from 0 and the first product on, as oneDNN's convolutions
// compute it. The slices have equal lengths, and the numbers are finite.
func ChainFMA32(x, k []float32) float32 {
	acc := float32(0)
	k = k[:len(x)]
	for i, v := range x {
		acc = exactmath.FMA32(v, k[i], acc)
	}
	return acc
}
