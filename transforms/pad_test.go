package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPad(t *testing.T) {
	row := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 1, 1, 2, 3)
	for mode, want := range map[PadMode]string{
		PadConstant:  "000000012300000",
		PadEdge:      "111111112333333",
		PadReflect:   "232123212321232",
		PadSymmetric: "112332112332112",
	} {
		op := &Pad{Left: 7, Right: 5, Mode: mode, Fill: []float64{0}}
		got := applyOne(t, op, row).Data
		for i := range got {
			got[i] += '0'
		}
		require.Equal(t, want, string(got), "%v", mode)
	}
	one := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 1, 2, 5, 6)
	op := &Pad{Top: 1, Right: 1, Mode: PadConstant, Fill: []float64{-1, 0.5}}
	require.Equal(t, []float32{-1, -1, 5, -1, 0.5, 0.5, 6, 0.5}, tensor.View[float32](applyOne(t, op, one)))

	refusesParam(t, "top", NewPad(-1, 0, 0, 0))
	refusesParam(t, "bottom", NewPad(0, maxSide+1, 0, 0))
	refusesParam(t, "left", NewPad(0, 0, -1, 0))
	refusesParam(t, "right", NewPad(0, 0, 0, -1))
	refusesParam(t, "mode", &Pad{Mode: 4, Fill: []float64{0}})
	refusesParam(t, "fill", &Pad{})
	refusesInput(t, "cannot hold fill[0] = -1", &Pad{Fill: []float64{-1}}, rgb8)
	refusesInput(t, "want an image", NewPad(1, 1, 1, 1), vector)
}
