package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestClamp(t *testing.T) {
	x := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 5, 1, -2, -1, 0.5, 3, 4)
	require.Equal(t, []float32{-1, -1, 0.5, 3, 3}, tensor.View[float32](applyOne(t, NewClamp(-1, 3), x)))
	require.Equal(t, []float32{2, 2, 2, 2, 2}, tensor.View[float32](applyOne(t, NewClamp(2, 2), x)))

	refusesParam(t, "max", NewClamp(1, 0))
	for _, v := range notFinite {
		refusesParam(t, "min", NewClamp(v, 1))
		refusesParam(t, "max", NewClamp(0, v))
	}
	refusesInput(t, "want dtype", NewClamp(0, 1), rgb8)
	refusesInput(t, "want an image", NewClamp(0, 1), vector)
}
