package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// TestChains compares with one chain after another.
func TestChains(t *testing.T) {
	x := make([]float32, 200)
	k := make([]float32, 17)
	for i := range x {
		x[i] = float32(i*7919%1000)/499 - 1
	}
	for i := range k {
		k[i] = float32(i*31%17)/7.1 - 1
	}
	for n := range 30 {
		for to := 1; to <= 3; to++ {
			for from := 1; from <= 5; from++ {
				fused, plain := make([]float32, n), make([]float32, n)
				ChainFMA32(fused, to, x, from, k)
				Chain32(plain, to, x, from, k)
				for i := 0; i*to < n; i++ {
					f, p := float32(0), float32(0)
					for j, v := range k {
						f = exactmath.FMA32(x[i*from+j], v, f)
						p += float32(x[i*from+j] * v)
					}
					require.Equal(t, []float32{f, p}, []float32{fused[i*to], plain[i*to]}, "%d of %d, steps %d and %d", i, n, to, from)
				}
			}
		}
	}
}
