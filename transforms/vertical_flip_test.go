package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestVerticalFlip(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 1, 2, 1, 2, 3, 4, 5, 6)
	require.Equal(t, []byte{5, 6, 3, 4, 1, 2}, applyOne(t, NewVerticalFlip(), x).Data)
	x = pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 2, 2, 2, 1, 2, 3, 4, 5, 6, 7, 8)
	require.Equal(t, []byte{3, 4, 1, 2, 7, 8, 5, 6}, applyOne(t, NewVerticalFlip(), x).Data)
	refusesInput(t, "want an image", NewVerticalFlip(), vector)
	refusesInput(t, "no pixels", NewVerticalFlip(), empty)
}
