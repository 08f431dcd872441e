package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadWithMask(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 1, 2)
	for position, want := range map[Position][2][]byte{
		Center:      {{9, 1, 2, 9, 9}, {0, 1, 1, 0, 0}},
		TopLeft:     {{1, 2, 9, 9, 9}, {1, 1, 0, 0, 0}},
		BottomRight: {{9, 9, 9, 1, 2}, {0, 0, 0, 1, 1}},
	} {
		op := NewPadWithMask(1, 5)
		op.Position, op.Fill, op.MaskDType = position, []float64{9}, tensor.Uint8
		y, err := run(newContext(), op, x)
		require.NoError(t, err)
		require.Equal(t, want[0], y[0].Data, "%v", position)
		require.Equal(t, want[1], y[1].Data, "%v", position)
	}
	// A side of 0 keeps the image's.
	y, err := run(newContext(), NewPadWithMask(2, 0), x)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 0, 0}, y[0].Data)
	require.Equal(t, []int64{1, 1, 0, 0}, tensor.View[int64](y[1]))

	change := func(f func(o *PadWithMask)) *PadWithMask {
		o := NewPadWithMask(9, 9)
		f(o)
		return o
	}
	refusesParam(t, "height", NewPadWithMask(-1, 1))
	refusesParam(t, "width", NewPadWithMask(1, maxSide+1))
	refusesParam(t, "position", change(func(o *PadWithMask) { o.Position = 3 }))
	refusesParam(t, "mode", change(func(o *PadWithMask) { o.Mode = 9 }))
	refusesParam(t, "fill", change(func(o *PadWithMask) { o.Fill = nil }))
	refusesParam(t, "mask_dtype", change(func(o *PadWithMask) { o.MaskDType = tensor.Bytes }))
	refusesParam(t, "mask_dtype", change(func(o *PadWithMask) { o.MaskDType = tensor.Invalid }))
	refusesInput(t, "larger than 4x4", NewPadWithMask(4, 4), rgb8)
	refusesInput(t, "larger than 3x0", NewPadWithMask(3, 0), rgb8)
	refusesInput(t, "fill has 2 values", change(func(o *PadWithMask) { o.Fill = []float64{0, 0} }), rgb8)
	refusesInput(t, "no pixels", NewPadWithMask(4, 4), empty)
}
