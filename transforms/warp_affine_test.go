package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestWarpAffine(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 10, 20, 30, 40, 50, 60)
	shift := NewWarpAffine([6]float64{1, 0, 1, 0, 1, 0}, 2, 4)
	shift.Fill = []float64{7}
	require.Equal(t, []byte{7, 10, 20, 30, 7, 40, 50, 60}, applyOne(t, shift, x).Data)
	half := NewWarpAffine([6]float64{1, 0, 0.5, 0, 1, 0}, 1, 4)
	require.Equal(t, []byte{5, 15, 25, 15}, applyOne(t, half, x).Data)
	turn := NewWarpAffine([6]float64{0, -1, 1, 1, 0, 0}, 3, 2)
	turn.Interpolation = Nearest
	require.Equal(t, []byte{40, 10, 50, 20, 60, 30}, applyOne(t, turn, x).Data)
	flat := NewWarpAffine([6]float64{1, 2, 0, 2, 4, 0}, 1, 3)
	require.Equal(t, []byte{10, 10, 10}, applyOne(t, flat, x).Data, "no inverse: the first pixel everywhere")
	for _, i := range []Interpolation{Nearest, Bilinear, Bicubic, Lanczos, Area} {
		op := &WarpAffine{[6]float64{1, 0, 0, 0, 1, 0}, 2, 3, i, OpenCV4, []float64{0}}
		require.Equal(t, x.Data, applyOne(t, op, x).Data, "%v", i)
	}

	change := func(f func(*WarpAffine)) *WarpAffine {
		op := NewWarpAffine([6]float64{1, 0, 0, 0, 1, 0}, 2, 2)
		f(op)
		return op
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		refusesParam(t, "matrix[4]", change(func(o *WarpAffine) { o.Matrix[4] = v }))
	}
	refusesParam(t, "height", change(func(o *WarpAffine) { o.Height = 0 }))
	refusesParam(t, "width", change(func(o *WarpAffine) { o.Width = maxSide + 1 }))
	refusesParam(t, "backend", change(func(o *WarpAffine) { o.Backend = OpenCV }))
	for _, i := range []Interpolation{NearestExact, Box, Hamming, PILCubic, 99} {
		refusesParam(t, "interpolation", change(func(o *WarpAffine) { o.Interpolation = i }))
	}
	refusesParam(t, "fill", change(func(o *WarpAffine) { o.Fill = nil }))
	op := change(func(*WarpAffine) {})
	refusesInput(t, "want dtype", op, rgb32)
	refusesInput(t, "want layout HWC", op, tensor.Image(tensor.Uint8, tensor.CHW, 4, 5, 3))
	refusesInput(t, "want [1 3 4] channels", op, rgb8.WithChannels(2))
	refusesInput(t, "sides of at most 32766", op, rgb8.WithSize(4, 32767))
	op.Fill = []float64{1, 2}
	refusesInput(t, "fill has 2 values", op, rgb8)
	op.Fill = []float64{256}
	refusesInput(t, "cannot hold", op, rgb8)

	for _, text := range []string{"[]", "[1,2,3,4,5]", "[1,2,3,4,5,6,7]"} {
		var m AffineMatrix
		require.ErrorIs(t, json.Unmarshal([]byte(text), &m), ErrParam, text)
	}
}

func ExampleWarpAffine() {
	// Scale by two about the first pixel.
	op := NewWarpAffine([6]float64{2, 0, 0, 0, 2, 0}, 2, 4)
	fmt.Println(exampleRun(op, exampleBytes(1, 2, 1, 0, 100))[0].Data)
	// Output: [0 50 100 50 0 25 50 25]
}

func BenchmarkWarpAffine(b *testing.B) {
	x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 480, 640, 3))
	require.NoError(b, err)
	for i := range x.Data {
		x.Data[i] = byte(i * 7)
	}
	for _, i := range []Interpolation{Nearest, Bilinear, Bicubic, Lanczos} {
		b.Run(i.String(), func(b *testing.B) {
			op := NewWarpAffine([6]float64{0.9659, 0.2588, -50, -0.2588, 0.9659, 100}, 480, 640)
			op.Interpolation = i
			dst, err := tensor.New(x.Desc)
			require.NoError(b, err)
			c, out, in := newContext(), []*tensor.Tensor{dst}, []*tensor.Tensor{x}
			b.SetBytes(int64(len(x.Data)))
			for range b.N {
				c.Begin()
				require.NoError(b, op.Apply(c, out, in))
			}
		})
	}
}
