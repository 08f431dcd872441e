package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestNormalizePad(t *testing.T) {
	op := NewNormalizePad([]float64{1}, []float64{2, 4, 8})
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 1, 5, 9, 3, 1, 1)
	require.Equal(t, []float32{0, 1, 1, 0, 1, 0, 0, 0}, tensor.View[float32](applyOne(t, op, x)))
	op.DType = tensor.Float16
	require.Equal(t, []uint16{0, 0x3C00, 0x3C00, 0, 0x3C00, 0, 0, 0}, tensor.View[uint16](applyOne(t, op, x)))

	op.DType = tensor.BFloat16
	refusesParam(t, "dtype", op)
	refusesParam(t, "mean has 2 values", NewNormalizePad([]float64{0, 0}, []float64{1}))
	refusesParam(t, "std has 0 values", NewNormalizePad([]float64{0}, nil))
	refusesParam(t, "std[0]", NewNormalizePad([]float64{0}, []float64{0}))
	op = NewNormalizePad([]float64{0}, []float64{1})
	refusesInput(t, "want [3] channels", op, rgb8.WithChannels(4))
	refusesInput(t, "want dtype", op, tensor.Image(tensor.Float64, tensor.HWC, 1, 1, 3))
}
