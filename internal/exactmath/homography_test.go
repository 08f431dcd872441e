package exactmath

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHomography(t *testing.T) {
	square := [8]float64{0, 0, 9, 0, 9, 9, 0, 9}
	c, ok := Homography(&square, &square)
	require.True(t, ok)
	require.Equal(t, [8]float64{1, 0, 0, 0, 1, 0, 0, 0}, c)
	c, ok = Homography(&[8]float64{1, 2, 10, 2, 10, 11, 1, 11}, &square)
	require.True(t, ok)
	require.Equal(t, [8]float64{1, 0, -1, 0, 1, -2, 0, 0}, c)
	for _, p := range [][8]float64{{}, {0, 0, 4, 0, 4, 0, 0, 0}, {0, 0, 1, 1, 2, 2, 5, 0}, {0, 0, 0.1, 0.1, 0.3, 0.3, 5, 0}} {
		_, ok = Homography(&p, &square)
		require.False(t, ok, "%v", p)
	}
	// The map satisfies its equations, in exact arithmetic of its float64
	// coefficients.
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w, h := 10+r.IntN(5000), 10+r.IntN(5000)
		at := func(x, y int) (float64, float64) { return float64(x), float64(y) }
		var from, to [8]float64
		for i := range 4 {
			x, y := (i+1)/2%2, i/2
			to[2*i], to[2*i+1] = at(x*(w-1), y*(h-1))
			from[2*i], from[2*i+1] = at(x*(w-1-r.IntN(w/3))+(1-x)*r.IntN(w/3), y*(h-1-r.IntN(h/3))+(1-y)*r.IntN(h/3))
		}
		c, ok := Homography(&from, &to)
		require.True(t, ok)
		f := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
		sum := func(a, b, d float64, x, y float64) *big.Float {
			s := f(d)
			s.Add(s, f(0).Mul(f(a), f(x)))
			return s.Add(s, f(0).Mul(f(b), f(y)))
		}
		for i := range 4 {
			u, v := from[2*i], from[2*i+1]
			d := sum(c[6], c[7], 1, u, v)
			x, _ := f(0).Quo(sum(c[0], c[1], c[2], u, v), d).Float64()
			y, _ := f(0).Quo(sum(c[3], c[4], c[5], u, v), d).Float64()
			require.InDelta(t, to[2*i], x, 1e-9)
			require.InDelta(t, to[2*i+1], y, 1e-9)
		}
	}
}
