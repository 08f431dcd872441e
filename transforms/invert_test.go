package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestInvert(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 0, 100, 255)
	require.Equal(t, []byte{255, 155, 0}, applyOne(t, NewInvert(), x).Data)
	refusesInput(t, "want dtype", NewInvert(), rgb32)
	refusesInput(t, "want an image", NewInvert(), vector)
}
