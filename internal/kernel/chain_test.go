package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// TestChain compares with one chain after another, and plain Go with vectors.
func TestChain(t *testing.T) {
	x := make([]float32, 300)
	for i := range x {
		x[i] = float32(i*7919%1000)/499 - 1
	}
	for n := range 4 {
		for taps := range 20 {
			at, k := make([]int, taps), make([]float32, taps)
			for j := range k {
				at[j], k[j] = (j*37+taps)%150, float32(j*31%17)/7.1-1
			}
			for _, fused := range []bool{false, true} {
				dst, plain := make([]float32, n*ChainBlock), make([]float32, n*ChainBlock)
				Chain(dst, x, at, k, fused)
				chainGo(plain, x, at, k, fused)
				for i := range dst {
					s := float32(0)
					for j, v := range k {
						if fused {
							s = exactmath.FMA32(x[at[j]+i], v, s)
						} else {
							s += float32(x[at[j]+i] * v)
						}
					}
					require.Equal(t, []float32{s, s}, []float32{dst[i], plain[i]}, "output %d of %d, %d taps, fused %v", i, n*ChainBlock, taps, fused)
				}
			}
		}
	}
}
