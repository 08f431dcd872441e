package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAlphaComposite(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 4, 10, 20, 30, 0, 10, 20, 30, 255, 0, 0, 255, 128)
	require.Equal(t, []byte{255, 255, 255, 10, 20, 30, 127, 127, 255}, applyOne(t, NewAlphaComposite(), x).Data)
	op := &AlphaComposite{Background: []float64{0}}
	require.Equal(t, []byte{0, 0, 0, 10, 20, 30, 0, 0, 128}, applyOne(t, op, x).Data)
	refusesParam(t, "background has 0 values", &AlphaComposite{})
	refusesParam(t, "background[1]", &AlphaComposite{Background: []float64{0, 256, 0}})
	refusesParam(t, "background[0]", &AlphaComposite{Background: []float64{0.5}})
	refusesInput(t, "want [4] channels", NewAlphaComposite(), rgb8)
	refusesInput(t, "want dtype", NewAlphaComposite(), rgb32.WithChannels(4))
}
