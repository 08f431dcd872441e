package jpeg

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// floatIDCT is the definition of the inverse DCT, T.81 A.3.3, in float64.
func floatIDCT(coef *[64]float64) (out [64]float64) {
	for y := range 8 {
		for x := range 8 {
			sum := 0.0
			for v := range 8 {
				for u := range 8 {
					c := coef[v*8+u]
					if u == 0 {
						c *= math.Sqrt2 / 2
					}
					if v == 0 {
						c *= math.Sqrt2 / 2
					}
					sum += c * math.Cos(float64(2*x+1)*float64(u)*math.Pi/16) * math.Cos(float64(2*y+1)*float64(v)*math.Pi/16)
				}
			}
			out[y*8+x] = min(max(sum/4+128, 0), 255)
		}
	}
	return out
}

// TestIDCTAgainstFloat: over coefficients that 8-bit images have, the integer
// transform is within 1 of the exact value (IEEE 1180 allows a peak error of 1),
// and within 0.02 of it in the mean.
func TestIDCTAgainstFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	quant := [64]int16{}
	for i := range quant {
		quant[i] = int16(1 + i/8)
	}
	total, n := 0.0, 0
	for range 3000 {
		var coef [64]int16
		var exact [64]float64
		coef[0] = int16(r.IntN(2000) - 1000)
		for range r.IntN(20) {
			k := r.IntN(64)
			coef[k] = int16(r.IntN(121)-60) / quant[k]
		}
		for i := range coef {
			exact[i] = float64(coef[i]) * float64(quant[i])
		}
		want := floatIDCT(&exact)
		got := make([]byte, 64)
		idct(got, 8, &coef, &quant)
		for i := range got {
			d := float64(got[i]) - want[i]
			require.LessOrEqual(t, math.Abs(d), 1.0, "at (%d, %d): got %d, want %.3f", i%8, i/8, got[i], want[i])
			total += d
			n++
		}
	}
	require.Less(t, math.Abs(total/float64(n)), 0.02)
}

// TestIDCTConstants: the constants are the rounded cosines.
func TestIDCTConstants(t *testing.T) {
	c := func(k int) float64 { return math.Sqrt2 * math.Cos(float64(k)*math.Pi/16) }
	fix := func(x float64) int { return int(math.Round(x * (1 << constBits))) }
	for _, v := range []struct {
		got  int
		want float64
	}{
		{f0541, c(6)},
		{f0765, c(2) - c(6)},
		{f1847, c(2) + c(6)},
		{f1175, c(3)},
		{f0298, -c(1) + c(3) + c(5) - c(7)},
		{f2053, c(1) + c(3) - c(5) + c(7)},
		{f3072, c(1) + c(3) + c(5) - c(7)},
		{f1501, c(1) + c(3) - c(5) - c(7)},
		{f0899, c(3) - c(7)},
		{f2562, c(1) + c(3)},
		{f1961, c(3) + c(5)},
		{f0390, c(3) - c(5)},
	} {
		require.Equal(t, fix(v.want), v.got)
	}
}

// TestIDCTShortcuts: blocks of DC only, and of one row, take other ways to the
// same samples, except where the SIMD code wraps around.
func TestIDCTShortcuts(t *testing.T) {
	one := [64]int16{}
	for i := range one {
		one[i] = 1
	}
	a, b := make([]byte, 64), make([]byte, 64)
	for dc := -32768; dc < 32768; dc += 7 {
		coef := [64]int16{int16(dc)}
		idct(a, 8, &coef, &one)
		idctDC(b, 8, int16(dc), 1)
		require.Equal(t, a, b, "DC %d", dc)
		if dc > -8192 && dc < 8192 {
			require.Equal(t, byte(min(max((dc+4)>>3, -128), 127)+128), b[0], "DC %d", dc)
		}
	}
	// 8192 << 2 wraps to -32768 in 16 bits.
	idctDC(b, 8, 8192, 1)
	require.Equal(t, byte(0), b[0])
	// With a coefficient in another row the same sum saturates.
	coef := [64]int16{0: 8192, 8: 1}
	idct(a, 8, &coef, &one)
	require.Equal(t, byte(255), a[0])
}

func TestUpsample(t *testing.T) {
	src := []byte{0, 100, 101, 255}
	dst := make([]byte, 8)
	upsampleH2V1(dst, src, 4)
	require.Equal(t, []byte{0, 25, 75, 100, 101, 140, 216, 255}, dst)

	// Halves go down at odd places, up at even ones.
	upsampleH2V1(dst[:6], []byte{0, 2, 0}, 3)
	require.Equal(t, []byte{0, 1, 1, 2, 0, 0}, dst[:6])

	near, far := []byte{10, 20, 30}, []byte{20, 20, 10}
	upsampleH1V2(dst[:3], near, far, 3, 1)
	require.Equal(t, []byte{12, 20, 25}, dst[:3])
	upsampleH1V2(dst[:3], near, far, 3, 2)
	require.Equal(t, []byte{13, 20, 25}, dst[:3])

	// Column sums 50, 80, 100; then 3:1 with biases 8 and 7.
	upsampleH2V2(dst[:6], near, far, 3)
	require.Equal(t, []byte{13, 14, 18, 21, 24, 25}, dst[:6])

	upsampleBox(dst[:7], []byte{1, 2, 3}, 3)
	require.Equal(t, []byte{1, 1, 1, 2, 2, 2, 3}, dst[:7])

	// A constant stays constant.
	c := []byte{77, 77, 77, 77}
	upsampleH2V2(dst, c, c, 4)
	require.Equal(t, []byte{77, 77, 77, 77, 77, 77, 77, 77}, dst)
}

func TestColor(t *testing.T) {
	for _, c := range []struct{ ycc, rgb [3]byte }{
		{[3]byte{0, 128, 128}, [3]byte{0, 0, 0}},
		{[3]byte{255, 128, 128}, [3]byte{255, 255, 255}},
		{[3]byte{76, 85, 255}, [3]byte{254, 0, 0}},
		{[3]byte{150, 44, 21}, [3]byte{0, 255, 1}},
		{[3]byte{29, 255, 107}, [3]byte{0, 0, 254}},
		{[3]byte{128, 0, 0}, [3]byte{0, 255, 0}},
		{[3]byte{128, 255, 255}, [3]byte{255, 0, 255}},
	} {
		var got [3]byte
		yccToRGB(got[:], c.ycc[:1], c.ycc[1:2], c.ycc[2:])
		require.Equal(t, c.rgb, got, "YCbCr %v", c.ycc)
	}
	// All of YCbCr against the formula, rounded as the tables are.
	for cb := 0; cb < 256; cb += 5 {
		for cr := 0; cr < 256; cr += 3 {
			for y := 0; y < 256; y += 51 {
				var got [3]byte
				yccToRGB(got[:], []byte{byte(y)}, []byte{byte(cb)}, []byte{byte(cr)})
				b, r := float64(cb-128), float64(cr-128)
				for i, v := range []float64{float64(y) + 1.402*r, float64(y) - 0.34414*b - 0.71414*r, float64(y) + 1.772*b} {
					v = min(max(v, 0), 255)
					// Half a unit of rounding, and the constants' own rounding.
					require.InDelta(t, v, float64(got[i]), 0.502, "YCbCr %d %d %d, channel %d", y, cb, cr, i)
				}
			}
		}
	}
}

func TestHasFF(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		v := r.Uint64()
		want := false
		for i := range 8 {
			want = want || byte(v>>(8*i)) == 0xFF
		}
		require.Equal(t, want, hasFF(v), "%016x", v)
	}
	require.False(t, hasFF(0xFEFEFEFEFEFEFEFE))
	require.True(t, hasFF(0xFF00000000000000))
}
