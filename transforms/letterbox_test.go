package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestLetterboxBars is the reference's example: 480 x 640 in 640 x 640 gets
// bars of 80 rows.
func TestLetterboxBars(t *testing.T) {
	x := randomImage(t, tensor.Uint8, tensor.HWC, 480, 640, 3)
	y, err := run(newContext(), NewLetterbox(640, 640), x)
	require.NoError(t, err)
	require.Equal(t, []float32{1, 1}, tensor.View[float32](y[1]))
	require.Equal(t, []int32{80, 80, 0, 0}, tensor.View[int32](y[2]))
	line := 640 * 3
	for i, v := range y[0].Data {
		if r := i / line; r >= 80 && r < 560 {
			if want := x.Data[i-80*line]; v != want {
				t.Fatalf("at %v: got %d want %d", golden.Index(y[0].Shape, i), v, want)
			}
		} else if v != 114 {
			t.Fatalf("at %v: got %d want 114", golden.Index(y[0].Shape, i), v)
		}
	}
}

func TestLetterboxFill(t *testing.T) {
	for _, l := range []tensor.Layout{tensor.HWC, tensor.CHW} {
		op := NewLetterbox(8, 4)
		op.Fill = []float64{1, 2, 3}
		x := randomImage(t, tensor.Uint8, l, 4, 4, 3)
		y, err := run(newContext(), op, x)
		require.NoError(t, err)
		for i, v := range y[0].Data {
			at := golden.Index(y[0].Shape, i)
			row, channel := at[0], at[2]
			if l == tensor.CHW {
				row, channel = at[1], at[0]
			}
			if row < 2 || row >= 6 {
				require.Equal(t, uint8(channel+1), v, "%v at %v", l, at)
			}
		}
	}
}

func TestLetterboxParameters(t *testing.T) {
	for name, change := range map[string]func(*Letterbox){
		"height": func(o *Letterbox) { o.Height = 0 },
		"width":  func(o *Letterbox) { o.Width = -5 },
		"stride": func(o *Letterbox) { o.Stride = 0 },
		"fill":   func(o *Letterbox) { o.Fill = nil },
		"box":    func(o *Letterbox) { o.Interpolation = Box },
	} {
		o := NewLetterbox(20, 20)
		change(o)
		require.ErrorIs(t, o.Validate(), ErrParam, name)
	}
	in := []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 10, 12, 3)}
	var out [3]tensor.Desc
	for name, fill := range map[string][]float64{"two": {1, 2}, "large": {256}, "negative": {-1}, "half": {0.5}} {
		o := NewLetterbox(20, 20)
		o.Fill = fill
		require.NoError(t, o.Validate())
		require.ErrorIs(t, o.Infer(out[:], in), ErrInput, name)
	}
}

func TestLetterboxAllocations(t *testing.T) {
	op, c := NewLetterbox(64, 64), newContext()
	var src []*tensor.Tensor
	for _, n := range [][2]int{{40, 60}, {61, 33}} {
		src = append(src, randomImage(t, tensor.Uint8, tensor.HWC, n[0], n[1], 3))
	}
	dst, err := run(newContext(), op, src[0])
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(3, func() {
		for i := range src {
			c.Begin()
			if op.Apply(c, dst, src[i:i+1]) != nil {
				t.Fail()
			}
		}
	}))
}
