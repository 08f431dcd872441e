package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadToNextMultiple(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 1, 1, 2, 3)
	require.Equal(t, []byte{1, 2, 3, 3, 1, 2, 3, 3}, applyOne(t, NewPadToNextMultiple(2), x).Data)
	require.Equal(t, []byte{1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1}, applyOne(t, NewPadToNextMultiple(3), x).Data)

	var out [1]tensor.Desc
	require.NoError(t, NewPadToNextMultiple(7).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 14, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 21, 3), out[0])

	refusesParam(t, "multiple", NewPadToNextMultiple(0))
	refusesParam(t, "position", &PadToNextMultiple{Multiple: 1, Position: 3, Fill: []float64{0}})
	refusesParam(t, "mode", &PadToNextMultiple{Multiple: 1, Mode: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &PadToNextMultiple{Multiple: 1})
	refusesInput(t, "fill has 2 values", &PadToNextMultiple{Multiple: 9, Fill: []float64{0, 0}}, rgb8)
	refusesInput(t, "no pixels", NewPadToNextMultiple(4), empty)
	for mode, most := range map[PadMode]string{PadSymmetric: "5 pixels in mode symmetric, want at most 4", PadReflect: "want at most 3"} {
		refusesInput(t, most, &PadToNextMultiple{Multiple: 9, Position: TopLeft, Mode: mode, Fill: []float64{0}, Once: true}, rgb8)
	}
	edge := &PadToNextMultiple{Multiple: 9, Mode: PadEdge, Fill: []float64{0}, Once: true}
	require.NoError(t, edge.Infer(out[:], []tensor.Desc{rgb8}))
}
