package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRescale(t *testing.T) {
	levels := make([]uint8, 256)
	for v := range levels {
		levels[v] = uint8(v)
	}
	x := pixelsOf(t, tensor.Uint8, tensor.HWC, 16, 16, 1, levels...)
	wrong := 0
	hf := tensor.View[float32](applyOne(t, NewRescale(1.0/255), x))
	divide := tensor.View[float32](applyOne(t, &Rescale{Scale: 255, Rule: RescaleDivide}, x))
	multiply := tensor.View[float32](applyOne(t, &Rescale{Scale: 1.0 / 255, Rule: RescaleMultiply}, x))
	for v := range levels {
		require.Equal(t, float32(v)/255, hf[v])
		require.Equal(t, float32(v)/255, divide[v])
		if multiply[v] != hf[v] {
			wrong++
		}
	}
	require.Equal(t, 126, wrong, "as the doc says")

	y := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 1, 2, float32(math.Copysign(0, -1)), 3)
	got := tensor.View[float32](applyOne(t, NewRescale(2), y))
	require.True(t, math.Signbit(float64(got[0])))
	require.Equal(t, float32(6), got[1])
	require.Equal(t, []float32{-1, 5}, tensor.View[float32](applyOne(t, &Rescale{Scale: 2, Offset: -1}, y)))
	z := pixelsOf[uint16](t, tensor.BFloat16, tensor.HWC, 1, 1, 1, 0x3FC0)
	require.Equal(t, []float32{3}, tensor.View[float32](applyOne(t, NewRescale(2), z)))

	refusesParam(t, "rule", &Rescale{Scale: 1, Rule: 4})
	require.Equal(t, []float32{-1, 5}, tensor.View[float32](applyOne(t, &Rescale{Scale: 2, Offset: -1, Rule: RescaleFused}, y)))
	refusesParam(t, "scale", &Rescale{Rule: RescaleDivide})
	refusesParam(t, "scale", &Rescale{Scale: 1e-50, Rule: RescaleDivide})
	for _, v := range notFinite {
		refusesParam(t, "scale", NewRescale(v))
		refusesParam(t, "offset", &Rescale{Scale: 1, Offset: v})
	}
	refusesInput(t, "want dtype", NewRescale(1), tensor.Image(tensor.Int64, tensor.HWC, 1, 1, 1))
	refusesInput(t, "want dtype", NewRescale(1), tensor.Image(tensor.Bool, tensor.HWC, 1, 1, 1))
	refusesInput(t, "want an image", NewRescale(1), vector)

	// Two ops share one Context: each must rebuild the other's table.
	c := newContext()
	out := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 16, 16, 1, make([]float32, 256)...)
	require.NoError(t, NewRescale(1).Apply(c, []*tensor.Tensor{out}, []*tensor.Tensor{x}))
	require.NoError(t, NewRescale(2).Apply(c, []*tensor.Tensor{out}, []*tensor.Tensor{x}))
	require.Equal(t, float32(510), tensor.View[float32](out)[255])
}
