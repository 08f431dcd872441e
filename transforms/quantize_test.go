package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestQuantize(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := pixelsOf(t, tensor.Float32, tensor.HWC, 1, 3, 3, 0.5, 1.5, 2.5, -0.5, nan, inf, -inf, 1e30, -7)
	op := NewQuantize([]float64{1}, []int{3}, tensor.Uint8)
	require.Equal(t, []uint8{3, 5, 5, 3, 3, 255, 0, 255, 0}, applyOne(t, op, x).Data)
	op = NewQuantize([]float64{1, 0.5, 2}, []int{0, 1, -1}, tensor.Int8)
	require.Equal(t, []int8{0, 4, 0, 0, 1, 127, -128, 127, -5}, tensor.View[int8](applyOne(t, op, x)))

	refusesParam(t, "dtype", NewQuantize([]float64{1}, []int{0}, tensor.Int32))
	refusesParam(t, "scale has no values", NewQuantize(nil, []int{0}, tensor.Uint8))
	refusesParam(t, "scale[0]", NewQuantize([]float64{0}, []int{0}, tensor.Uint8))
	refusesParam(t, "scale[1] is -1", NewQuantize([]float64{1, -1}, []int{0}, tensor.Uint8))
	for _, v := range notFinite {
		refusesParam(t, "scale[0]", NewQuantize([]float64{v}, []int{0}, tensor.Uint8))
	}
	refusesParam(t, "zero_point has no values", NewQuantize([]float64{1}, nil, tensor.Uint8))
	refusesParam(t, "zero_point[0] is -1", NewQuantize([]float64{1}, []int{-1}, tensor.Uint8))
	refusesInput(t, "scale has 2 values", NewQuantize([]float64{1, 1}, []int{0}, tensor.Uint8), rgb32)
	refusesInput(t, "zero_point has 2 values", NewQuantize([]float64{1}, []int{0, 0}, tensor.Uint8), rgb32)
	refusesInput(t, "want dtype", NewQuantize([]float64{1}, []int{0}, tensor.Uint8), rgb8)
}
