package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// sizesCV calls do with many pairs of input and output sizes.
func sizesCV(t *testing.T, r *rand.Rand, do func(inH, inW, outH, outW int)) {
	for outW, step := 1, short.Step(t, 5); outW <= 70; outW += step {
		outH := 1 + r.IntN(6)
		do(outH*2, outW*2, outH, outW)
		do(outH*3, outW*5, outH, outW)
		do(outH+r.IntN(20), outW+r.IntN(90), outH, outW) // INTER_AREA shrinks
		do(1+r.IntN(9), 1+r.IntN(90), outH, outW)
		do(1, 1, outH, outW)
		do(outH+1, outW+1, outH, outW)
		do(outH, 1, outH+1, outW+300)
	}
}

// equalPixels reports the first pixel that differs.
func equalPixels(t *testing.T, want, got []uint8, w, ch int, what string) {
	if bytes.Equal(want, got) {
		return
	}
	for i := range want {
		if want[i] != got[i] {
			require.Failf(t, "pixels differ", "%s: at (%d, %d) channel %d: got %d, want %d", what, i/ch%w, i/ch/w, i%ch, got[i], want[i])
		}
	}
}

// testCVIn compares the assembly of OpenCV's resize with the reference.
func testCVIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(21, 22))
	var s CVScratch
	var x, y CVTaps
	var ax, ay AreaTab
	for ch := 1; ch <= 5; ch++ {
		sizesCV(t, r, func(inH, inW, outH, outW int) {
			src := f.bytes(0, inH*inW*ch)
			copy(src, bytesOf(r, len(src)))
			if outW%3 == 0 { // the largest sums
				for i := range src {
					src[i] = uint8(-(i / 7 % 2))
				}
			}
			line, want := outW*ch, make([]uint8, outH*outW*ch)
			both := func(what string, do func(dst []uint8)) {
				restore := cpu.DisableAll()
				do(want)
				restore()
				got := f.bytes(1, len(want))
				do(got)
				what = fmt.Sprintf("%s, %d channels, %dx%d to %dx%d", what, ch, inW, inH, outW, outH)
				equalPixels(t, want, got, outW, ch, what)
				f.check(t, what)
			}
			for what, filter := range map[string]CVFilter{"linear": CVLinear, "area up": CVAreaUp, "cubic": CVCubic, "lanczos": CVLanczos4} {
				x.Resize(inW, outW, filter, false)
				y.Resize(inH, outH, filter, true)
				both(what, func(dst []uint8) {
					CVResizeU8(dst, src, inW, outW, ch, &x, &y, fenced[int32](f, 2, y.K*line), &s)
				})
			}
			if inH < outH || inW < outW {
				return
			}
			ax.Resize(inW, outW)
			ay.Resize(inH, outH)
			both("area", func(dst []uint8) {
				CVAreaU8(dst, src, inW, outW, ch, &ax, &ay, fenced[float32](f, 2, line), fenced[float32](f, 3, line))
			})
			if inH%outH == 0 && inW%outW == 0 {
				both("area of blocks", func(dst []uint8) {
					CVAreaFastU8(dst, src, outH, outW, ch, inW/outW, inH/outH)
				})
			}
		})
	}
}

func TestCV(t *testing.T) {
	needsVectors(t)
	testCVIn(t, &guard{})
}

// testCVRowsIn compares the row functions.
func testCVRowsIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(23, 24))
	values := []float32{0.5, 1.5, 254.5, 255.5, 256, -0.5, -1, 3e9, -3e9, 70000, -70000, float32(math.Inf(1)), float32(math.Inf(-1)), 127.49999}
	for n := 1; n < 130; n++ {
		src := fenced[float32](f, 0, n)
		for i := range src {
			src[i] = float32(r.Float64()*300 - 20)
			if r.IntN(3) == 0 {
				src[i] = values[r.IntN(len(values))]
			}
		}
		want, got := make([]uint8, n), f.bytes(1, n)
		restore := cpu.DisableAll()
		RoundU8(want, src)
		restore()
		RoundU8(got, src)
		equalPixels(t, want, got, n, 1, "RoundU8")
		f.check(t, "RoundU8")

		for i := range src {
			src[i] = float32(r.NormFloat64())
		}
		for _, first := range []bool{true, false} {
			sum := fenced[float32](f, 1, n)
			for i := range sum {
				sum[i] = float32(r.NormFloat64())
			}
			same := append([]float32(nil), sum...)
			restore := cpu.DisableAll()
			addScaled(same, src, 0.37, first)
			restore()
			addScaled(sum, src, 0.37, first)
			require.Equal(t, same, sum, "%d sums", n)
			f.check(t, "addScaled")
		}
	}
}

func TestCVRows(t *testing.T) { testCVRowsIn(t, &guard{}) }

func testPickIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, size := range []int{1, 2, 3, 4, 5, 12} {
		sizesCV(t, r, func(inH, inW, outH, outW int) {
			xs, ys := fenced[int32](f, 2, outW), make([]int32, outH)
			NearestCV(xs, inW, outW)
			NearestCV(ys, inH, outH)
			if outW%5 == 0 {
				xs[r.IntN(outW)], ys[r.IntN(outH)] = -1, -1
			}
			if outW%3 == 0 {
				slices.Reverse(xs)
			}
			src, got := f.bytes(0, inH*inW*size), f.bytes(1, outH*outW*size)
			copy(src, bytesOf(r, len(src)))
			want := make([]uint8, len(got))
			for i := range want {
				if sx, sy := int(xs[i/size%outW]), int(ys[i/size/outW]); sx >= 0 && sy >= 0 {
					want[i] = src[(sy*inW+sx)*size+i%size]
				}
			}
			Pick(got, src, inW, size, xs, ys)
			what := fmt.Sprintf("%d bytes, %dx%d to %dx%d", size, inW, inH, outW, outH)
			equalPixels(t, want, got, outW, size, what)
			f.check(t, what)
		})
	}
}

func TestPick(t *testing.T) { testPickIn(t, &guard{}) }

func BenchmarkCV(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const inW, inH, outW, outH = 450, 400, 288, 256
	for _, ch := range []int{1, 3, 4} {
		src, dst := bytesOf(r, inW*inH*ch), make([]uint8, outW*outH*ch)
		var s CVScratch
		var x, y CVTaps
		x.Resize(inW, outW, CVLinear, false)
		y.Resize(inH, outH, CVLinear, true)
		rows := make([]int32, outW*ch*2)
		var ax, ay AreaTab
		ax.Resize(inW, outW)
		ay.Resize(inH, outH)
		buf, sum := make([]float32, outW*ch), make([]float32, outW*ch)
		nx, ny := make([]int32, outW), make([]int32, outH)
		NearestCV(nx, inW, outW)
		NearestCV(ny, inH, outH)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%d", name, ch), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		run("linear", func() { CVResizeU8(dst, src, inW, outW, ch, &x, &y, rows, &s) })
		var cx, cy CVTaps
		cx.Resize(inW, outW, CVCubic, false)
		cy.Resize(inH, outH, CVCubic, true)
		four := make([]int32, outW*ch*4)
		run("cubic", func() { CVResizeU8(dst, src, inW, outW, ch, &cx, &cy, four, &s) })
		run("area", func() { CVAreaU8(dst, src, inW, outW, ch, &ax, &ay, buf, sum) })
		run("areafast2x2", func() { CVAreaFastU8(dst, src, inH/2, inW/2, ch, 2, 2) })
		run("areafast5x4", func() { CVAreaFastU8(dst, src, inH/4, inW/5, ch, 5, 4) })
		run("nearest", func() { Pick(dst, src, inW, ch, nx, ny) })
	}
}
