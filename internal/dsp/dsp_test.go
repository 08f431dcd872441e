package dsp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLog compares with package math, whose error is below 1 unit in the last
// place too.
func TestLog(t *testing.T) {
	for i := range 40000 {
		x := math.Exp(float64(i-20000) / 100)
		for _, x := range []float64{x, 1 + float64(i)/1e6, 1 - float64(i)/1e6} {
			require.InDelta(t, math.Log(x), Log(x), 4*0x1p-53*math.Abs(math.Log(x)), "%v", x)
			require.InDelta(t, math.Log10(x), Log10(x), 4*0x1p-53*math.Abs(math.Log10(x)), "%v", x)
		}
	}
	for _, x := range []float64{0, math.Inf(1)} {
		require.InDelta(t, math.Log(x), Log(x), 1e-12, x)
		require.InDelta(t, math.Log10(x), Log10(x), 1e-12, x)
	}
	require.True(t, math.IsNaN(Log(-1)) && math.IsNaN(Log10(math.NaN())))
}

func TestWindow(t *testing.T) {
	require.Equal(t, []float64{0, 0.5, 1, 0.5}, round(Hann.Table(4, true)))
	require.Equal(t, []float64{0, 1, 0}, round(Hann.Table(3, false)))
	require.Equal(t, []float64{0.08, 1, 0.08}, round(Hamming.Table(3, false)))
	require.Equal(t, []float64{0, 0.34, 1, 0.34, 0}, round(Blackman.Table(5, false)))
	require.Equal(t, []float64{1, 1}, Boxcar.Table(2, true))
	require.Equal(t, []float64{1}, Povey.Table(1, false))
}

func round(v []float64) []float64 {
	for i, x := range v {
		v[i] = math.Abs(math.Round(x*1e12) / 1e12)
	}
	return v
}
