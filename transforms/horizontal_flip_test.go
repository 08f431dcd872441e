package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestHorizontalFlip(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 2, 2, 1, 2, 3, 4, 5, 6, 7, 8)
	require.Equal(t, []byte{3, 4, 1, 2, 7, 8, 5, 6}, applyOne(t, NewHorizontalFlip(), x).Data)
	x = pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 2, 2, 2, 1, 2, 3, 4, 5, 6, 7, 8)
	require.Equal(t, []byte{2, 1, 4, 3, 6, 5, 8, 7}, applyOne(t, NewHorizontalFlip(), x).Data)
	refusesInput(t, "want an image", NewHorizontalFlip(), vector)
	refusesInput(t, "no pixels", NewHorizontalFlip(), empty)
	refusesInput(t, "want an image", NewHorizontalFlip(), tensor.Encoded())
}
