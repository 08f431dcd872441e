package transforms

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestResizeWindow checks that passes over a few rows at a time return the
// result of two whole passes.
func TestResizeWindow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	side := func() int {
		if rnd.IntN(8) == 0 {
			return 1 + rnd.IntN(300)
		}
		return 1 + rnd.IntN(70)
	}
	first := map[bool]int{}
	n := short.Rounds(t, 3000, 450)
	for i := range n {
		h, w, oh, ow := side(), side(), side(), side()
		layout, ch := tensor.HWC, []int{1, 3}[i%2]
		if i%3 == 0 {
			layout = tensor.CHW
		}
		f := []Interpolation{Box, Bilinear, Hamming, Bicubic, Lanczos}[i%5]
		x := randomImage(t, tensor.Uint8, layout, h, w, ch)
		op := sampling{f, Pillow, true}.resize(oh, ow)
		got, err := run(newContext(), op, x)
		require.NoError(t, err)

		s := shapeOf(x.Desc)
		d := shape{s.planes, oh, ow, s.ch}
		var tx, ty kernel.Taps
		tx.Pillow(w, ow, 0, ow, pillowFilters[f], false)
		ty.Pillow(h, oh, 0, oh, pillowFilters[f], false)
		horizontal := func(out, in []uint8, rows int) {
			if w == ow {
				copy(out, in)
				return
			}
			tx.Horizontal(out, in, s.planes*rows, w, s.ch)
		}
		vertical := func(out, in []uint8, width int) {
			if h == oh {
				copy(out, in)
				return
			}
			line := width * s.ch
			for p := range s.planes {
				ty.Vertical(out[p*oh*line:][:oh*line], in[p*h*line:][:h*line], line)
			}
		}
		want := make([]uint8, oh*ow*ch)
		if (sampling{}).verticalFirst(s, d) {
			mid := make([]uint8, oh*w*ch)
			vertical(mid, x.Data, w)
			horizontal(want, mid, oh)
		} else {
			mid := make([]uint8, h*ow*ch)
			horizontal(mid, x.Data, h)
			vertical(want, mid, ow)
		}
		first[(sampling{}).verticalFirst(s, d)]++
		require.Equal(t, want, got[0].Data, "%v to %d x %d by %v", x.Desc, oh, ow, f)
	}
	require.Greater(t, min(first[true], first[false]), n/10)
}
