package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

var grayRules = []*GrayRule{&GrayPillow, &GrayOpenCV, &GrayMXNet, &GrayTorch, &GrayTorchFused, &GrayYCrCb}

// fencedBytes returns n random bytes of the memory.
func fencedBytes(f fence, r *rand.Rand, place, n int) []uint8 {
	b := f.bytes(place, n)
	copy(b, bytesOf(r, n))
	return b
}

func testColorIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(19, 20))
	for n := range 100 {
		a, b, c, got := fencedBytes(f, r, 0, n), fencedBytes(f, r, 1, n), fencedBytes(f, r, 2, n), f.bytes(3, n)
		want := make([]uint8, n)
		var sum uint64
		for _, v := range a {
			sum += uint64(v)
		}
		require.Equal(t, sum, SumUint8(a))
		for i, k := range grayRules {
			for i := range want {
				want[i] = k.Of(a[i], b[i], c[i])
			}
			k.Row(got, a, b, c)
			require.Equal(t, want, got, "gray rule %d, %d pixels", i, n)
		}
		for rule := MixPillow; rule <= MixMXNet; rule++ {
			m := Mix{rule, float32(r.Float64() * 3), float32(r.Float64()*3 - 2)}
			for i := range want {
				want[i] = m.Of(a[i], float32(b[i]))
			}
			m.Row(got, a, b)
			require.Equal(t, want, got, "%+v, %d values", m, n)
		}
		for _, weight := range []int32{11682, 9241} {
			for i := range want {
				want[i] = toUint8((weight*(int32(a[i])-int32(b[i])) + 2105344) >> 14)
			}
			ChromaRow(got, a, b, weight)
			require.Equal(t, want, got, "chroma, %d values", n)
		}
		for px := 1; px < 5; px++ {
			x, y, z := fencedBytes(f, r, 4, n+2*px), fencedBytes(f, r, 5, n+2*px), fencedBytes(f, r, 6, n+2*px)
			for i := range want {
				sum := 4 * int(y[i+px])
				for _, row := range [][]uint8{x, y, z} {
					sum += int(row[i]) + int(row[i+px]) + int(row[i+2*px])
				}
				want[i] = uint8((sum + 6) / 13)
			}
			Smooth13(got, x, y, z, px)
			require.Equal(t, want, got, "smoothed, %d values, %d apart", n, px)
		}
		in := [3][]uint8{a, b, c}
		out := [3][]uint8{f.bytes(3, n), f.bytes(4, n), f.bytes(5, n)}
		for _, k := range []*CVHSV{HSVHalf, HSVFull} {
			k.FromRGBRow(out, in)
			for i := range n {
				h, s, v := k.FromRGB(a[i], b[i], c[i])
				require.Equal(t, [3]uint8{h, s, v}, [3]uint8{out[0][i], out[1][i], out[2][i]})
			}
			turn := uint8(r.Uint32())
			for _, body := range []bool{true, false} {
				k.ToRGBRow(out, in, turn, body)
				for i := range n {
					x, y, z := k.ToRGB(a[i]+turn, b[i], c[i], body)
					require.Equal(t, [3]uint8{x, y, z}, [3]uint8{out[0][i], out[1][i], out[2][i]})
				}
			}
		}
		f.check(t, fmt.Sprintf("%d values", n))
	}
}

func TestColorRows(t *testing.T) { testColorIn(t, &guard{}) }

func testRearrangeIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(21, 22))
	run := func(size int, from []int, pixels ...int) {
		for _, n := range pixels {
			src, got := fencedBytes(f, r, 0, n*size), f.bytes(1, n*len(from))
			Rearrange(got, src, size, from)
			want := make([]uint8, n*len(from))
			for i := range want {
				if at := from[i%len(from)]; at < 0 {
					want[i] = uint8(^at)
				} else {
					want[i] = src[i/len(from)*size+at]
				}
			}
			require.Equal(t, want, got, "%d pixels of %d bytes, from %v", n, size, from)
			f.check(t, "rearranged")
			clear(got)
			NewRearranger(size, from...).Row(got, src)
			require.Equal(t, want, got, "a row of %d pixels of %d bytes, from %v", n, size, from)
			f.check(t, "rearranged")
		}
	}
	rounds := short.Rounds(t, 20, 4)
	for size := 1; size <= 20; size++ {
		for range rounds {
			from := make([]int, 1+r.IntN(18))
			for i := range from {
				if from[i] = r.IntN(size); r.IntN(4) == 0 {
					from[i] = ^r.IntN(256)
				}
			}
			run(size, from, 0, 1, 2, 5, 11, 32, 101, 4096/size+9)
			// Pixels that keep their size.
			from = make([]int, size)
			for i := range from {
				from[i] = r.IntN(size)
			}
			run(size, from, 64, 65, 192/size+r.IntN(70), 4096/size+r.IntN(70))
		}
	}
}

func TestRearrange(t *testing.T) { testRearrangeIn(t, &guard{}) }

// TestGrayAll compares all colours with the plain rule.
func TestGrayAll(t *testing.T) {
	var g, b, got [256]uint8
	for i := range b {
		b[i] = uint8(i)
	}
	step := 256 / short.Rounds(t, 64, 8)
	for rule, k := range grayRules {
		for red := 0; red < 256; red += step {
			r := [256]uint8{}
			for i := range r {
				r[i] = uint8(red)
			}
			for green := range 256 {
				for i := range g {
					g[i] = uint8(green)
				}
				k.Row(got[:], r[:], g[:], b[:])
				for blue, v := range got {
					if want := k.Of(uint8(red), uint8(green), uint8(blue)); v != want {
						t.Fatalf("rule %d of %d, %d, %d: got %d want %d", rule, red, green, blue, v, want)
					}
				}
			}
		}
	}
}

// TestHSVAll compares all colours with the plain conversions.
func TestHSVAll(t *testing.T) {
	var in, out [3][256]uint8
	for i := range in[2] {
		in[2][i] = uint8(i)
	}
	planes := func(p *[3][256]uint8) [3][]uint8 { return [3][]uint8{p[0][:], p[1][:], p[2][:]} }
	step := 256 / short.Rounds(t, 64, 4)
	for _, k := range []*CVHSV{HSVHalf, HSVFull} {
		for x := 0; x < 256; x += step {
			for y := range 256 {
				for i := range 256 {
					in[0][i], in[1][i] = uint8(x), uint8(y)
				}
				check := func(what string, f func(a, b, c uint8) (uint8, uint8, uint8)) {
					for z := range 256 {
						a, b, c := f(uint8(x), uint8(y), uint8(z))
						if got, want := [3]uint8{out[0][z], out[1][z], out[2][z]}, [3]uint8{a, b, c}; got != want {
							t.Fatalf("%s of %d, %d, %d: got %v want %v", what, x, y, z, got, want)
						}
					}
				}
				k.FromRGBRow(planes(&out), planes(&in))
				check("HSV", k.FromRGB)
				for _, body := range []bool{true, false} {
					k.ToRGBRow(planes(&out), planes(&in), 0, body)
					check("RGB", func(a, b, c uint8) (uint8, uint8, uint8) { return k.ToRGB(a, b, c, body) })
				}
			}
		}
	}
}

// TestMixAll compares all pairs of values with the plain rule.
func TestMixAll(t *testing.T) {
	var v, other, got [256]uint8
	for i := range v {
		v[i] = uint8(i)
	}
	factors := []float32{0, 1, 0.5, 1.3, 1.7, 0.1, 2, -0.4, 1e6}
	for _, f := range factors[:short.Rounds(t, len(factors), 3)] {
		for rule := MixPillow; rule <= MixMXNet; rule++ {
			m := Mix{rule, f, 1 - f}
			for o := range 256 {
				for i := range other {
					other[i] = uint8(o)
				}
				m.Row(got[:], v[:], other[:])
				for i, x := range got {
					if want := m.Of(uint8(i), float32(o)); x != want {
						t.Fatalf("%+v of %d and %d: got %d want %d", m, i, o, x, want)
					}
				}
			}
		}
	}
}

// TestColorRowsReference runs the same tests without assembly.
func TestColorRowsReference(t *testing.T) {
	needsVectors(t)
	if short.On() {
		t.Skip("short: platforms without vectors test Go's code")
	}
	defer cpu.DisableAll()()
	testColorIn(t, &guard{})
	testRearrangeIn(t, &guard{})
}

func BenchmarkColorRows(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 1024
	x, y, z, out := bytesOf(r, n), bytesOf(r, n), bytesOf(r, n), make([]uint8, n)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				f()
			}
		})
	}
	for i, name := range []string{"Pillow", "OpenCV", "MXNet", "Torch", "TorchFused", "YCrCb"} {
		run("gray"+name, func() { grayRules[i].Row(out, x, y, z) })
	}
	for rule := MixPillow; rule <= MixMXNet; rule++ {
		m := Mix{rule, 1.3, -0.3}
		run(fmt.Sprint("mix", rule), func() { m.Row(out, x, y) })
	}
	in, hsv := [3][]uint8{x, y, z}, [3][]uint8{out, bytesOf(r, n), bytesOf(r, n)}
	run("hsvFromRGB", func() { HSVFull.FromRGBRow(hsv, in) })
	run("hsvToRGB", func() { HSVFull.ToRGBRow(hsv, in, 25, true) })
	run("bgr", func() { Rearrange(out[:999], x[:999], 3, []int{2, 1, 0}) })
	run("sum", func() { SumUint8(x) })
	run("smooth", func() { Smooth13(out[:n-6], x, y, z, 3) })
}
