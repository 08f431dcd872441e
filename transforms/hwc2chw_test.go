package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestHWC2CHW(t *testing.T) {
	x := pixelsOf[int32](t, tensor.Int32, tensor.HWC, 1, 2, 3, 1, 2, 3, 4, 5, 6)
	got := applyOne(t, NewHWC2CHW(), x)
	require.Equal(t, tensor.Image(tensor.Int32, tensor.CHW, 1, 2, 3), got.Desc)
	require.Equal(t, []int32{1, 4, 2, 5, 3, 6}, tensor.View[int32](got))
	refusesInput(t, "want layout HWC", NewHWC2CHW(), got.Desc)
	refusesInput(t, "want an image", NewHWC2CHW(), vector)
}
