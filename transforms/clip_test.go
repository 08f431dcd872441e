package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestClip(t *testing.T) {
	x := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 5, 1, -2, -1, 0.5, 3, 4)
	require.Equal(t, []float32{-1, -1, 0.5, 3, 3}, tensor.View[float32](applyOne(t, NewClip(-1, 3), x)))
	require.Equal(t, []float32{2, 2, 2, 2, 2}, tensor.View[float32](applyOne(t, NewClip(2, 2), x)))

	refusesParam(t, "max", NewClip(1, 0))
	for _, v := range notFinite {
		refusesParam(t, "min", NewClip(v, 1))
		refusesParam(t, "max", NewClip(0, v))
	}
	refusesInput(t, "want dtype", NewClip(0, 1), rgb8)
	refusesInput(t, "want an image", NewClip(0, 1), vector)
}
