package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestToTensor(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 2, 0, 51, 255, 102)
	got := applyOne(t, NewToTensor(), x)
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 1, 2, 2), got.Desc)
	require.Equal(t, []float32{0, 1, 0.2, 0.4}, tensor.View[float32](got))
	refusesInput(t, "want layout HWC", NewToTensor(), tensor.Image(tensor.Uint8, tensor.CHW, 1, 1, 3))
	refusesInput(t, "want dtype", NewToTensor(), rgb32)
}
