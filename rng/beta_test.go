package rng

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
)

// TestBeta compares the mean and the variance with the distribution's, and the
// distribution function where it is known: x^a for (a, 1), arcsine for (1/2,
// 1/2).
func TestBeta(t *testing.T) {
	n := short.Rounds(t, 100_000, 10_000)
	for _, p := range [][2]float64{{1, 1}, {0.5, 0.5}, {0.2, 0.2}, {0.01, 0.01}, {3, 1}, {2.5, 7}, {1000, 1000}, {0.001, 1000}} {
		a, b := p[0], p[1]
		known := map[float64]float64{}
		for _, x := range []float64{0.01, 0.1, 0.3, 0.5, 0.9} {
			if b == 1 {
				known[x] = math.Pow(x, a)
			}
			if a == 0.5 && b == 0.5 {
				known[x] = 2 / math.Pi * math.Asin(math.Sqrt(x))
			}
		}
		count := map[float64]int{}
		sum, squares := 0.0, 0.0
		k := NewKey(1, 0, "beta")
		for i := range uint64(n) {
			s := k.At(i)
			v := s.Beta(a, b)
			require.True(t, v >= 0 && v <= 1, v)
			sum += v
			squares += v * v
			for x := range known {
				if v <= x {
					count[x]++
				}
			}
		}
		mean, variance := a/(a+b), a*b/((a+b)*(a+b)*(a+b+1))
		require.InDelta(t, mean, sum/float64(n), 5*math.Sqrt(variance/float64(n)), p)
		got := squares/float64(n) - sum/float64(n)*sum/float64(n)
		require.InDelta(t, variance, got, 5*math.Sqrt(variance/float64(n))+1e-9, p)
		for x, want := range known {
			require.InDelta(t, want, float64(count[x])/float64(n), 5*math.Sqrt(want*(1-want)/float64(n))+3/float64(n), "%v: %v", p, x)
		}
	}
}

// TestDirichlet compares the mean and the variance of each number.
func TestDirichlet(t *testing.T) {
	n := short.Rounds(t, 50_000, 10_000)
	for _, alpha := range []float64{0.01, 0.3, 1, 5} {
		k := NewKey(1, 0, "dirichlet")
		var sum, squares [4]float64
		for i := range uint64(n) {
			s := k.At(i)
			var v [4]float64
			s.Dirichlet(alpha, v[:])
			require.InDelta(t, 1, v[0]+v[1]+v[2]+v[3], 1e-15)
			for j, x := range v {
				sum[j] += x
				squares[j] += x * x
			}
		}
		variance := 0.25 * 0.75 / (4*alpha + 1)
		for j := range sum {
			mean := sum[j] / float64(n)
			require.InDelta(t, 0.25, mean, 5*math.Sqrt(variance/float64(n)), alpha)
			require.InDelta(t, variance, squares[j]/float64(n)-mean*mean, 5*math.Sqrt(variance/float64(n)), alpha)
		}
	}
}
