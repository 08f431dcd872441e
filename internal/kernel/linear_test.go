package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// linearCase is a formula with its lists for Fit.
type linearCase struct {
	name               string
	scale, sub, factor []float64
	of                 func(v float32, c int) float32
}

func linearCases() []linearCase {
	mean, std := []float64{0.48145466, 0.4578275, 0.40821073}, []float64{0.26862954, 0.26130258, 0.27577711}
	by := func(l []float64) (r []float64) {
		for _, v := range l {
			r = append(r, 1/float64(float32(v)))
		}
		return r
	}
	times := func(l []float64, x float64) (r []float64) {
		for _, v := range l {
			r = append(r, v*x)
		}
		return r
	}
	normalize := func(v float32, c int) float32 { return (v - float32(mean[c])) / float32(std[c]) }
	unit := 1.0 / 255
	return []linearCase{
		{"quotients", []float64{unit}, mean, by(std), func(v float32, c int) float32 { return normalize(v/255, c) }},
		{"a product of float32", []float64{unit}, mean, by(std), func(v float32, c int) float32 { return normalize(v*float32(unit), c) }},
		{"without scale", nil, times(mean, 255), by(times(std, 255)), func(v float32, c int) float32 {
			return (v - float32(mean[c]*255)) / float32(std[c]*255)
		}},
		{"one quotient", nil, []float64{0}, []float64{unit}, func(v float32, _ int) float32 { return v / 255 }},
		{"one product", nil, []float64{0}, []float64{unit}, func(v float32, _ int) float32 { return v * float32(unit) }},
		{"offset", []float64{1 / 127.5}, []float64{1}, []float64{1}, func(v float32, _ int) float32 { return float32(v*float32(1/127.5)) - 1 }},
		{"no change", nil, []float64{0}, []float64{1}, func(v float32, _ int) float32 { return v }},
	}
}

func (c *linearCase) tables(ch int) []float32 {
	t := make([]float32, ch*256)
	for i := range t {
		t[i] = c.of(float32(i%256), i/256)
	}
	return t
}

func testLinearIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, c := range linearCases() {
		for _, ch := range []int{1, 3} {
			tables := c.tables(ch)
			var l Linear
			if !l.Fit(tables, c.scale, c.sub[:min(ch, len(c.sub))], c.factor[:min(ch, len(c.factor))]) {
				require.False(t, cpu.Has(cpu.FMA), "%s, %d channels", c.name, ch)
			}
			for n := range 120 {
				src := fencedBytes(f, r, 0, n*ch)
				want, got := make([]float32, n*ch), fenced[float32](f, 1, n*ch)
				LookupHWC(want, src, ch, tables)
				done := l.Row(got, src)
				require.Zero(t, done%ch)
				require.True(t, slices.Equal(want[:done], got[:done]), "%s, %d elements", c.name, n*ch)
				f.check(t, c.name)
			}
			testLinearPlanes(t, f, r, &l, c.name, tables)
		}
	}
}

func testLinearPlanes(t *testing.T, f fence, r *rand.Rand, l *Linear, name string, tables []float32) {
	for w := 1; w < 40; w++ {
		for _, h := range []int{0, 1, 2, 14} {
			stride, plane := 3*w+r.IntN(5), w*h+r.IntN(9)
			src := fencedBytes(f, r, 0, max(h-1, 0)*stride+min(h, 1)*3*w)
			got := fenced[float32](f, 1, 2*plane+w*h)
			done := l.Planes(got, plane, src, stride, w, h)
			require.Equal(t, cpu.Has(cpu.FMA) && len(tables) == 768 && w >= 8, done)
			if !done {
				continue
			}
			want := append([]float32(nil), got...)
			for y := range h {
				LookupCHW(want[y*w:], plane, src[y*stride:][:3*w], 3, tables)
			}
			for i, v := range want {
				if math.Float32bits(v) != math.Float32bits(got[i]) {
					require.Failf(t, "other bits", "%s, %d x %d pixels, element %d: %v, want %v", name, w, h, i, got[i], v)
				}
			}
			f.check(t, fmt.Sprintf("%s, %d x %d pixels", name, w, h))
		}
	}
}

func TestLinear(t *testing.T) { testLinearIn(t, &guard{}) }

// TestLinearOtherBits checks that one bit of one value is noticed.
func TestLinearOtherBits(t *testing.T) {
	for _, c := range linearCases() {
		for _, at := range []int{0, 255, 256, 700, 767} {
			tables := c.tables(3)
			tables[at] = math.Float32frombits(math.Float32bits(tables[at]) ^ 1)
			l := Linear{ch: 3}
			require.False(t, l.Fit(tables, c.scale, c.sub, c.factor), "%s, entry %d", c.name, at)
			require.Zero(t, l.Row(make([]float32, 48), make([]uint8, 48)))
			require.False(t, l.Planes(make([]float32, 48), 16, make([]uint8, 48), 48, 16, 1))
		}
	}
}

// TestLinearReference checks that nothing is computed without vectors.
func TestLinearReference(t *testing.T) {
	needsVectors(t)
	defer cpu.DisableAll()()
	testLinearIn(t, &guard{})
}
