package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// cosines[x][u] is the factor of T.81 A.3.3 of frequency u at position x.
var cosines = func() (c [8][8]float64) {
	for x := range c {
		for u := range c[x] {
			c[x][u] = math.Cos(float64(2*x+1) * float64(u) * math.Pi / 16)
		}
	}
	return c
}()

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
					sum += c * cosines[x][u] * cosines[y][v]
				}
			}
			out[y*8+x] = min(max(sum/4+128, 0), 255)
		}
	}
	return out
}

// TestIDCTAgainstFloat tests coefficients of 8-bit images. The integer
// transform is within 1 of the exact value (IEEE 1180 allows a peak error of 1)
// and within 0.02 on average.
func TestIDCTAgainstFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	quant := [64]int16{}
	for i := range quant {
		quant[i] = int16(1 + i/8)
	}
	total, n := 0.0, 0
	for range short.Rounds(t, 3000, 1000) {
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
		IDCT(got, 8, &coef, &quant)
		for i := range got {
			d := float64(got[i]) - want[i]
			if math.Abs(d) > 1 {
				t.Fatalf("at (%d, %d): got %d, want %.3f", i%8, i/8, got[i], want[i])
			}
			total += d
			n++
		}
	}
	require.Less(t, math.Abs(total/float64(n)), 0.02)
}

// TestIDCTConstants checks that the constants are the rounded cosines.
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

// TestIDCTShortcuts checks that the shortcuts for blocks with only a DC
// coefficient or only one row return the samples of the full transform, except
// where the SIMD code wraps around.
func TestIDCTShortcuts(t *testing.T) {
	one := [64]int16{}
	for i := range one {
		one[i] = 1
	}
	a, b := make([]byte, 64), make([]byte, 64)
	for dc := -32768; dc < 32768; dc += 7 {
		coef := [64]int16{int16(dc)}
		IDCT(a, 8, &coef, &one)
		IDCTDC(b, 8, int16(dc), 1)
		require.Equal(t, a, b, "DC %d", dc)
		if dc > -8192 && dc < 8192 {
			require.Equal(t, byte(min(max((dc+4)>>3, -128), 127)+128), b[0], "DC %d", dc)
		}
	}
	// 8192 << 2 wraps to -32768 in 16 bits.
	IDCTDC(b, 8, 8192, 1)
	require.Equal(t, byte(0), b[0])
	// With a coefficient in another row, the same sum saturates.
	coef := [64]int16{0: 8192, 8: 1}
	IDCT(a, 8, &coef, &one)
	require.Equal(t, byte(255), a[0])
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
		YCCToRGB(got[:], c.ycc[:1], c.ycc[1:2], c.ycc[2:])
		require.Equal(t, c.rgb, got, "YCbCr %v", c.ycc)
	}
	// Compare all of YCbCr with the formula, rounded as in the tables.
	for cb := 0; cb < 256; cb += 5 {
		for cr := 0; cr < 256; cr += 3 {
			for y := 0; y < 256; y += 51 {
				var got [3]byte
				YCCToRGB(got[:], []byte{byte(y)}, []byte{byte(cb)}, []byte{byte(cr)})
				b, r := float64(cb-128), float64(cr-128)
				for i, v := range []float64{float64(y) + 1.402*r, float64(y) - 0.34414*b - 0.71414*r, float64(y) + 1.772*b} {
					v = min(max(v, 0), 255)
					// The tolerance is half a unit of rounding plus the
					// rounding of the constants.
					require.InDelta(t, v, float64(got[i]), 0.502, "YCbCr %d %d %d, channel %d", y, cb, cr, i)
				}
			}
		}
	}
}

// TestYCCToRGBWidths compares the assembly with the reference at every width
// and alignment, and checks that nothing outside the pixels is written.
func TestYCCToRGBWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	src := make([]byte, 3*200)
	both := func(off, n int, y, cb, cr []byte) {
		got := make([]byte, off+3*n+64)
		for i := range got {
			got[i] = byte(3 * i)
		}
		want := append([]byte(nil), got...)
		YCCToRGB(got[off:off+3*n], y, cb, cr)
		restore := cpu.DisableAll()
		YCCToRGB(want[off:off+3*n], y, cb, cr)
		restore()
		require.Equal(t, want, got, "width %d, offset %d", n, off)
	}
	for n := range 131 {
		for off := range 17 {
			for i := range src {
				src[i] = byte(r.Uint32())
				if n%3 == 0 {
					src[i] = []byte{0, 255, 128, 127}[r.IntN(4)]
				}
			}
			both(off, n, src[off:off+n], src[200+off/2:][:n], src[400+off/3:][:n])
		}
	}
	// Test every pair of chroma values, with and without assembly.
	for cb := range 256 {
		var y, b, c [256]byte
		for i := range y {
			y[i], b[i], c[i] = byte(i*7+cb), byte(cb), byte(i)
		}
		both(0, 256, y[:], b[:], c[:])
		restore := cpu.DisableAll()
		both(0, 256, y[:], b[:], c[:])
		restore()
	}
}

func BenchmarkYCC(b *testing.B) {
	for _, n := range []int{16, 24, 375, 512} {
		dst, src := make([]byte, 3*n), make([]byte, 3*n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				YCCToRGB(dst, src[:n], src[n:2*n], src[2*n:])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pixel")
		})
	}
}
