package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCrop(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 1, 2, 3, 4, 5, 6)
	require.Equal(t, []byte{5, 6}, applyOne(t, NewCrop(1, 1, 1, 2), x).Data)
	require.Equal(t, []byte{0, 0, 0, 1}, applyOne(t, NewCrop(-1, -1, 2, 2), x).Data)
	require.Equal(t, []byte{6, 0, 0, 0}, applyOne(t, NewCrop(1, 2, 2, 2), x).Data)
	require.Equal(t, []byte{0}, applyOne(t, NewCrop(maxSide, -maxSide, 1, 1), x).Data)
	refusesParam(t, "top", NewCrop(-maxSide-1, 0, 1, 1))
	refusesParam(t, "left", NewCrop(0, maxSide+1, 1, 1))
	refusesParam(t, "height", NewCrop(0, 0, 0, 1))
	refusesParam(t, "width", NewCrop(0, 0, 1, 0))
	refusesInput(t, "want an image", NewCrop(0, 0, 1, 1), vector)
}
