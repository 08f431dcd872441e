package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/short"
)

// TestPillowTaps compares the fixed-point weights of thousands of tables with a
// formula that uses the C library's sine.
func TestPillowTaps(t *testing.T) {
	b, err := os.ReadFile("testdata/taps.json")
	require.NoError(t, err)
	var want struct {
		Pairs   [][2]int          `json:"pairs"`
		Filters map[string]string `json:"filters"`
	}
	require.NoError(t, json.Unmarshal(b, &want))
	var pairs [][2]int
	for a := 1; a <= 64; a++ {
		for b := 1; b <= 64; b++ {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	pairs = append(pairs, want.Pairs...)
	for name, f := range map[string]Filter{
		"box": FilterBox, "bilinear": FilterBilinear, "hamming": FilterHamming, "bicubic": FilterBicubic, "lanczos": FilterLanczos,
	} {
		t.Run(name, func(t *testing.T) {
			h := sha256.New()
			var taps Taps
			var buf []byte
			for _, p := range pairs {
				taps.Pillow(p[0], p[1], 0, p[1], f, false)
				for i, n := range taps.Len {
					buf = binary.LittleEndian.AppendUint32(buf[:0], uint32(taps.Start[i]))
					buf = binary.LittleEndian.AppendUint32(buf, uint32(n))
					for _, w := range taps.W32[i*taps.K:][:n] {
						buf = binary.LittleEndian.AppendUint32(buf, uint32(w))
					}
					h.Write(buf)
				}
			}
			require.Equal(t, want.Filters[name], hex.EncodeToString(h.Sum(nil)))
		})
	}
}

// TestLanczosQuick compares the quick weights with the precise ones.
func TestLanczosQuick(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	outputs, quick := 0, 0
	for range short.Rounds(t, 3000, 250) {
		in, out := 1+r.IntN(1<<r.IntN(15)), 1+r.IntN(1<<r.IntN(12))
		scale := float64(in) / float64(out)
		stretch := max(scale, 1)
		q := lanczosQuick{inv: 1 / stretch}
		q.sin, q.cos = exactmath.SinCosFast(q.inv * (math.Pi / 3))
		for i := range out {
			center := (float64(i) + 0.5) * scale
			lo := max(int(center-3*stretch+0.5), 0)
			n := min(int(center+3*stretch+0.5), in) - lo
			w, got := make([]float64, n), make([]int32, n)
			outputs++
			if !q.fixed(got, w, lo, center) {
				continue
			}
			quick++
			sum := FilterLanczos.weights(w, lo, center, q.inv)
			for j, v := range w {
				if want := int32(math.Round(v / sum * (1 << TapsBits))); got[j] != want {
					t.Fatalf("%d to %d, at output %d, weight %d: got %d want %d", in, out, i, j, got[j], want)
				}
			}
			if i > 40 {
				break
			}
		}
	}
	require.Greater(t, quick, outputs*9/10)
}

// TestSinCos compares with package math, whose error is at most one unit.
func TestSinCos(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		x := r.Float64() * 3 * math.Pi
		s, c := exactmath.SinCosFast(x)
		if math.Abs(math.Sin(x)-s) > 2.5e-16 || math.Abs(math.Cos(x)-c) > 2.5e-16 {
			t.Fatalf("at %v: got %v, %v, want %v, %v", x, s, c, math.Sin(x), math.Cos(x))
		}
	}
	// These values are correct to 0.5 units in the last place, from 300-bit
	// arithmetic.
	for x, want := range map[float64]float64{
		0: 0, math.Pi: 1.2246467991473532e-16, 2 * math.Pi: -2.4492935982947064e-16, 3 * math.Pi: 3.6739403974420594e-16,
		math.Pi / 2: 1, 1: 0.8414709848078965, 3: 0.1411200080598672, 9: 0.4121184852417566,
	} {
		s, _ := exactmath.SinCosFast(x)
		require.Equal(t, want, s, "sin %v", x)
	}
}

// TestFMA32 compares with exact arithmetic, including ties and subnormal
// results.
func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(a, b, c float32) {
		x := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(a)).SetPrec(2000), big.NewFloat(float64(b)))
		x.Add(x, big.NewFloat(float64(c)))
		want, _ := x.Float32()
		got := exactmath.FMA32(a, b, c)
		if want == 0 && got == 0 {
			return
		}
		if math.Float32bits(want) != math.Float32bits(got) {
			t.Fatalf("%v*%v+%v: got %v want %v", a, b, c, got, want)
		}
	}
	rounds := short.Rounds(t, 50000, 4000)
	for range rounds {
		check(float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64()))
	}
	for range rounds {
		// Few bits and distant exponents produce ties.
		a, b := float32(1+r.IntN(4096))/4096, float32(1+r.IntN(8192))/4096
		c := float32(math.Ldexp(float64(1+r.IntN(1<<24)), r.IntN(60)-30))
		check(a, b, c)
		check(-a, b, c)
		check(a, float32(math.Ldexp(float64(b), -126)), float32(math.Ldexp(float64(c), -120)))
	}
	check(1+0x1p-23, 1-0x1p-23, 0x1p30)
	check(0x1p-12, 0x1p-12, 1)
	check(0x1p-12+0x1p-30, 0x1p-12, 1)
}

func BenchmarkPillowTaps(b *testing.B) {
	for name, f := range map[string]Filter{"bilinear": FilterBilinear, "lanczos": FilterLanczos} {
		b.Run(name, func(b *testing.B) {
			var t Taps
			b.ReportAllocs()
			for b.Loop() {
				t.Pillow(500, 341, 0, 341, f, false)
			}
		})
	}
}
