package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadToMultiple(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 1, 2)
	for position, want := range map[Position][]byte{
		Center: {9, 1, 2, 9, 9}, TopLeft: {1, 2, 9, 9, 9}, BottomRight: {9, 9, 9, 1, 2},
	} {
		op := &PadToMultiple{Multiple: 5, Position: position, Fill: []float64{9}}
		y := applyOne(t, op, x)
		require.Equal(t, [2]int{5, 5}, [2]int{y.Height(), y.Width()})
		top := position.before(4)
		require.Equal(t, want, y.Data[5*top:][:5], "%v", position)
	}
	require.Equal(t, x.Data, applyOne(t, NewPadToMultiple(1), x).Data)

	var out [1]tensor.Desc
	require.NoError(t, NewPadToMultiple(7).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 14, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 14, 3), out[0])

	refusesParam(t, "multiple", NewPadToMultiple(0))
	refusesParam(t, "multiple", NewPadToMultiple(maxSide+1))
	refusesParam(t, "position", &PadToMultiple{Multiple: 1, Position: 3, Fill: []float64{0}})
	refusesParam(t, "mode", &PadToMultiple{Multiple: 1, Mode: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &PadToMultiple{Multiple: 1})
	refusesInput(t, "fill has 2 values", &PadToMultiple{Multiple: 9, Fill: []float64{0, 0}}, rgb8)
	refusesInput(t, "no pixels", NewPadToMultiple(4), empty)
}

func TestPadToMultipleNext(t *testing.T) {
	next := func(multiple int) *PadToMultiple {
		o := NewPadToMultiple(multiple)
		o.Position, o.Mode, o.Next = TopLeft, PadSymmetric, true
		return o
	}
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 1, 1, 2, 3)
	require.Equal(t, []byte{1, 2, 3, 3, 1, 2, 3, 3}, applyOne(t, next(2), x).Data)
	require.Equal(t, []byte{1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1}, applyOne(t, next(3), x).Data)

	var out [1]tensor.Desc
	require.NoError(t, next(7).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 14, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 21, 3), out[0])

	refusesParam(t, "multiple", next(0))
	refusesParam(t, "position", &PadToMultiple{Next: true, Multiple: 1, Position: 3, Fill: []float64{0}})
	refusesParam(t, "mode", &PadToMultiple{Next: true, Multiple: 1, Mode: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &PadToMultiple{Next: true, Multiple: 1})
	refusesInput(t, "fill has 2 values", &PadToMultiple{Next: true, Multiple: 9, Fill: []float64{0, 0}}, rgb8)
	refusesInput(t, "no pixels", next(4), empty)
	for mode, most := range map[PadMode]string{PadSymmetric: "5 pixels in mode symmetric, want at most 4", PadReflect: "want at most 3"} {
		refusesInput(t, most, &PadToMultiple{Next: true, Multiple: 9, Position: TopLeft, Mode: mode, Fill: []float64{0}, Once: true}, rgb8)
	}
	edge := &PadToMultiple{Next: true, Multiple: 9, Mode: PadEdge, Fill: []float64{0}, Once: true}
	require.NoError(t, edge.Infer(out[:], []tensor.Desc{rgb8}))
}
