package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadSqrt(t *testing.T) {
	// sqrt(2/2) is 1, and int(sqrt(1/2)*1.5) is 1.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 1, 2)
	require.Equal(t, []byte{9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 9}, applyOne(t, &PadSqrt{Factor: 1.5, Fill: []float64{9}}, x).Data)
	require.Equal(t, x.Data, applyOne(t, NewPadSqrt(0), x).Data)

	var out [1]tensor.Desc
	require.NoError(t, NewPadSqrt(3).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 50, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, 80, 3), out[0])

	for _, f := range []float64{-1, math.NaN(), maxSqrtFactor + 1} {
		refusesParam(t, "factor", NewPadSqrt(f))
	}
	refusesParam(t, "mode", &PadSqrt{Mode: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &PadSqrt{})
	refusesInput(t, "fill has 2 values", &PadSqrt{Fill: []float64{0, 0}}, rgb8)
	refusesInput(t, "no pixels", NewPadSqrt(3), empty)
	refusesInput(t, "a border of 4 pixels in mode reflect, want at most 3", &PadSqrt{Factor: 3, Mode: PadReflect, Fill: []float64{0}, Once: true}, rgb8)
}
