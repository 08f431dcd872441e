package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMultiply(t *testing.T) {
	x := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, 1, 2, 3, 4)
	require.Equal(t, []float32{2, 4, 9, 12}, tensor.View[float32](applyOne(t, NewMultiply(2, 3), x)))
	require.Equal(t, []float32{2, 4, 6, 8}, tensor.View[float32](applyOne(t, NewMultiply(2), x)))
	refusesParam(t, "factor", NewMultiply())
	for _, v := range notFinite {
		refusesParam(t, "factor", NewMultiply(v))
	}
	refusesInput(t, "want dtype", NewMultiply(1), rgb8)
	refusesInput(t, "factor", NewMultiply(1, 2), rgb32)
}
