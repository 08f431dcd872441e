package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestNormalize(t *testing.T) {
	x := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 2, 2, 1, 2, 3, 4)
	op := NewNormalize([]float64{1, 2}, []float64{2, 4})
	require.Equal(t, []float32{0, 0, 1, 0.5}, tensor.View[float32](applyOne(t, op, x)))
	y := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, 1, 2, 3, 4)
	require.Equal(t, []float32{0, 0.5, 0.25, 0.5}, tensor.View[float32](applyOne(t, op, y)))

	refusesParam(t, "mean", NewNormalize(nil, []float64{1}))
	refusesParam(t, "std", NewNormalize([]float64{1}, nil))
	refusesParam(t, "std[1]", NewNormalize([]float64{1}, []float64{1, 0}))
	refusesParam(t, "std[0]", NewNormalize([]float64{1}, []float64{1e-60}))
	for _, v := range notFinite {
		refusesParam(t, "mean[0]", NewNormalize([]float64{v}, []float64{1}))
		refusesParam(t, "std[0]", NewNormalize([]float64{1}, []float64{v}))
	}
	refusesInput(t, "mean has 2 values", op, rgb32)
	refusesInput(t, "std has 2 values", NewNormalize([]float64{0}, []float64{1, 2}), rgb32)
	refusesInput(t, "want dtype", NewNormalize([]float64{0}, []float64{1}), rgb8)
	refusesInput(t, "want an image", op, vector)
}
