package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadToSize(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 1, 2)
	for position, want := range map[Position][]byte{
		Center: {9, 1, 2, 9, 9}, TopLeft: {1, 2, 9, 9, 9}, BottomRight: {9, 9, 9, 1, 2},
	} {
		op := &PadToSize{Height: 1, Width: 5, Position: position, Fill: []float64{9}}
		require.Equal(t, want, applyOne(t, op, x).Data, "%v", position)
	}
	refusesParam(t, "height", NewPadToSize(0, 1))
	refusesParam(t, "position", &PadToSize{Height: 1, Width: 1, Position: 3, Fill: []float64{0}})
	refusesParam(t, "mode", &PadToSize{Height: 1, Width: 1, Mode: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &PadToSize{Height: 1, Width: 1})
	refusesInput(t, "larger than 4x4", NewPadToSize(4, 4), rgb8)
	refusesInput(t, "larger than 3x5", NewPadToSize(3, 5), rgb8)
	refusesInput(t, "fill has 2 values", &PadToSize{Height: 9, Width: 9, Fill: []float64{0, 0}}, rgb8)
}
