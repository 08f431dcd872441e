package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGrayscale(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 200, 99, 50)
	require.Equal(t, []byte{124}, applyOne(t, NewGrayscale(), x).Data)
	require.Equal(t, []byte{124}, applyOne(t, &Grayscale{Channels: 1, Backend: OpenCV}, x).Data)
	require.Equal(t, []byte{123, 123, 123}, applyOne(t, &Grayscale{Channels: 3, Backend: Torch}, x).Data)
	refusesParam(t, "channels", &Grayscale{Channels: 2})
	refusesParam(t, "backend", &Grayscale{Channels: 1, Backend: 7})
	refusesInput(t, "want [1 3] channels", NewGrayscale(), rgb8.WithChannels(4))
	refusesInput(t, "want dtype", NewGrayscale(), rgb32)
}
