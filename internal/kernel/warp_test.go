package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
	"github.com/infer-prep/infer-prep/internal/short"
)

// warpCase is an image and a row of outputs in memory of a fence.
type warpCase struct {
	t           *testing.T
	f           fence
	r           *rand.Rand
	w, h, ch, n int
	pix         []uint8
	fill        []uint8
}

// same checks that compute writes the same without vector instructions.
func same[T Word](c *warpCase, what string, place, size int, compute func(dst []T)) []T {
	want := make([]T, size)
	restore := cpu.DisableAll()
	compute(want)
	restore()
	got := fenced[T](c.f, place, size)
	compute(got)
	if !slices.EqualFunc(want, got, func(a, b T) bool { return a == b || a != a && b != b }) {
		require.Equal(c.t, want, got, "%s, image %d x %d x %d, %d columns", what, c.w, c.h, c.ch, c.n)
	}
	c.f.check(c.t, what)
	return got
}

// matrix returns a random affine map whose outputs are in and around the image.
func (c *warpCase) matrix() (m [6]float64) {
	for i := range m {
		m[i] = c.r.NormFloat64()
	}
	if c.r.IntN(2) == 0 { // nearly the identity
		m[0], m[1], m[3], m[4] = 1+float64(m[0]/16), m[1]/16, m[3]/16, 1+float64(m[4]/16)
	}
	m[2] = float64(m[2]*float64(c.w)) / 2
	m[5] = float64(m[5]*float64(c.h)) / 2
	return m
}

// special are positions that need care.
var special = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, 3e9, -3e9, -0.25, -0.5, -1, 0, 1e-30, -1e-30, 0x1p-149}

func (c *warpCase) pillow() {
	m := c.matrix()
	y := c.r.IntN(20)
	s := PILImage{Pix: c.pix, Width: c.w, Height: c.h, Channels: c.ch, Fill: c.fill, Index: make([]int32, c.n)}
	same(c, "PILNearest", 0, 3*c.n*c.ch, func(dst []uint8) { s.PILNearest(dst, c.n, &m) })

	p := [8]float64{m[0], m[1], m[2], m[3], m[4], m[5], c.r.NormFloat64() / 50, c.r.NormFloat64() / 50}
	for _, what := range []string{"AffineCoords", "PerspectiveCoords"} {
		at := func(xs, ys []float64) {
			if what == "AffineCoords" {
				AffineCoords(xs, ys, &m, y)
			} else {
				PerspectiveCoords(xs, ys, &p, y)
			}
		}
		ys := make([]float64, c.n)
		xs := same(c, what, 1, c.n, func(dst []float64) { at(dst, ys) })
		xs = append([]float64(nil), xs...)
		ys = same(c, what, 2, c.n, func(dst []float64) { at(xs, dst) })
		xs2 := fenced[float64](c.f, 1, c.n)
		copy(xs2, xs)
		for _, strange := range []bool{false, true} {
			if strange {
				xs2[c.r.IntN(c.n)] = special[c.r.IntN(len(special))]
				ys[c.r.IntN(c.n)] = special[c.r.IntN(len(special))]
			}
			for _, taps := range []PILTaps{1, 2, 4} {
				same(c, fmt.Sprintf("PILRow %d", taps), 0, c.n*c.ch, func(dst []uint8) { s.PILRow(taps, dst, xs2, ys) })
			}
		}
	}
}

func (c *warpCase) opencv() {
	for _, taps := range []WarpTaps{1, 2, 4, 8} {
		m := WarpInvert(c.matrix())
		dx, dy := fenced[int32](c.f, 1, c.n), fenced[int32](c.f, 2, c.n)
		index := make([]int32, c.n)
		WarpDeltas(dx, m[0])
		WarpDeltas(dy, m[3])
		for y := range 4 {
			x0, y0 := taps.WarpStart(m[1], m[2], y), taps.WarpStart(m[4], m[5], y)
			same(c, fmt.Sprintf("WarpRow %d", taps), 0, c.n*c.ch, func(dst []uint8) {
				taps.WarpRow(dst, c.pix, c.w, c.h, c.ch, c.fill, x0, y0, dx, dy, index)
			})
		}
		a := c.matrix()
		p := [9]float64{a[0], a[1], a[2], a[3], a[4], a[5], c.r.NormFloat64() / 50, c.r.NormFloat64() / 50, 1}
		if c.r.IntN(3) == 0 { // divisors of 0
			p = [9]float64{a[0], a[1], a[2], a[3], a[4], special[c.r.IntN(len(special))], -0.25, 0, 1}
		}
		height, y := 1+c.r.IntN(40), c.r.IntN(40)
		other := make([]int32, c.n)
		xs := append([]int32(nil), same(c, "PerspectiveDeltas", 1, c.n, func(dst []int32) { taps.PerspectiveDeltas(dst, other, &p, y, height) })...)
		ys := same(c, "PerspectiveDeltas", 2, c.n, func(dst []int32) { taps.PerspectiveDeltas(other, dst, &p, y, height) })
		xs2 := fenced[int32](c.f, 1, c.n)
		copy(xs2, xs)
		same(c, fmt.Sprintf("WarpRow %d, perspective", taps), 0, c.n*c.ch, func(dst []uint8) {
			taps.WarpRow(dst, c.pix, c.w, c.h, c.ch, c.fill, 0, 0, xs2, ys, index)
		})
	}
}

func (c *warpCase) torch() {
	m := c.matrix()
	m[2], m[5] = m[2]/4, m[5]/4
	t := TorchTheta(&m, c.w, c.h)
	y := c.r.IntN(c.n)
	displacement, columns := fenced[float32](c.f, 3, 2*c.w), fenced[float32](c.f, 4, c.w)
	for i := range columns {
		columns[i] = TorchIdentity(i, c.w)
		displacement[2*i], displacement[2*i+1] = float32(c.r.NormFloat64()/8), float32(c.r.NormFloat64()/8)
		if c.r.IntN(8) == 0 {
			displacement[2*i+c.r.IntN(2)] = float32(special[c.r.IntN(len(special))])
		}
	}
	d := [2]float32{float32(c.r.NormFloat64() / 20), float32(c.r.NormFloat64() / 20)}
	if c.r.IntN(3) == 0 {
		d = [2]float32{-2, 0} // a divisor of 0 at the first column
	}
	s := TorchImage{Pix: c.pix, Width: c.w, Height: c.h, Channels: c.ch, Index: make([]int32, max(c.n, c.w))}
	values := fenced[float32](c.f, 5, c.ch)
	for i := range values {
		values[i] = float32(c.fill[i])
	}
	for _, g := range []struct {
		what string
		n    int
		rows func(g TorchGrid)
	}{
		{"Affine", c.n, func(g TorchGrid) { g.Affine(&t, y, c.n, c.w, c.h) }},
		{"Perspective", c.n, func(g TorchGrid) { g.Perspective(&t, d, y, c.w, c.h) }},
		{"Displace", c.w, func(g TorchGrid) { g.Displace(displacement, columns, y%c.h, c.w, c.h) }},
	} {
		other := make([]float32, g.n)
		xs := append([]float32(nil), same(c, g.what, 1, g.n, func(dst []float32) { g.rows(TorchGrid{dst, other}) })...)
		ys := same(c, g.what, 2, g.n, func(dst []float32) { g.rows(TorchGrid{other, dst}) })
		grid := TorchGrid{fenced[float32](c.f, 1, g.n), ys}
		copy(grid.X, xs)
		for _, s.Fill = range [][]float32{nil, values} {
			same(c, g.what+", nearest", 0, g.n*c.ch, func(dst []uint8) { s.Nearest(dst, grid) })
			same(c, g.what+", bilinear", 0, g.n*c.ch, func(dst []uint8) { s.Bilinear(dst, grid) })
		}
	}
}

func testWarpsIn(t *testing.T, f fence) {
	r := rand.New(rand.NewPCG(41, 42))
	for range short.Rounds(t, 300, 30) {
		for ch := 1; ch <= 5; ch++ {
			c := &warpCase{t: t, f: f, r: r, w: 1 + r.IntN(32), h: 1 + r.IntN(32), ch: ch, n: 1 + r.IntN(40)}
			c.pix, c.fill = f.bytes(6, c.w*c.h*ch), f.bytes(7, ch)
			copy(c.pix, bytesOf(r, len(c.pix)))
			copy(c.fill, bytesOf(r, ch))
			c.pillow()
			c.torch()
			if ch < 5 {
				c.opencv()
			}
		}
	}
}

func TestWarps(t *testing.T) { testWarpsIn(t, &guard{}) }
