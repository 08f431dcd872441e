package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadToSquare(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 4, 1, 1, 2, 3, 4)
	for position, row := range map[Position]int{Center: 1, TopLeft: 0, BottomRight: 3} {
		y := applyOne(t, &PadToSquare{Position: position, Fill: []float64{9}}, x)
		require.Equal(t, [2]int{4, 4}, [2]int{y.Height(), y.Width()})
		want := []byte{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}
		copy(want[4*row:], x.Data)
		require.Equal(t, want, y.Data, "%v", position)
	}
	square := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 2, 2, 1, 1, 2, 3, 4)
	require.Equal(t, square.Data, applyOne(t, NewPadToSquare([]float64{7}), square).Data)

	var out [1]tensor.Desc
	require.NoError(t, NewPadToSquare([]float64{0}).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 14, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3), out[0])

	refusesParam(t, "position", &PadToSquare{Position: 3, Fill: []float64{0}})
	refusesParam(t, "mode", &PadToSquare{Mode: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &PadToSquare{})
	refusesInput(t, "fill has 2 values", NewPadToSquare([]float64{0, 0}), rgb8)
	refusesInput(t, "no pixels", NewPadToSquare([]float64{0}), empty)
}
