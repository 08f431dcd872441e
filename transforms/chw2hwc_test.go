package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCHW2HWC(t *testing.T) {
	x := pixelsOf[int64](t, tensor.Int64, tensor.CHW, 1, 2, 3, 1, 2, 3, 4, 5, 6)
	got := applyOne(t, NewCHW2HWC(), x)
	require.Equal(t, tensor.Image(tensor.Int64, tensor.HWC, 1, 2, 3), got.Desc)
	require.Equal(t, []int64{1, 3, 5, 2, 4, 6}, tensor.View[int64](got))
	refusesInput(t, "want layout CHW", NewCHW2HWC(), got.Desc)
	refusesInput(t, "want an image", NewCHW2HWC(), vector)
}
