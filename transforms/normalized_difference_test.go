package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestNormalizedDifference(t *testing.T) {
	x := pixelsOf[uint16](t, tensor.Uint16, tensor.HWC, 1, 3, 2, 3, 1, 0, 0, 0, 4)
	y := tensor.View[float32](applyOne(t, NewNormalizedDifference(0, 1), x))
	require.Equal(t, float32(0.5), y[0])
	require.True(t, math.IsNaN(float64(y[1])))
	require.Equal(t, float32(-1), y[2])
	z := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, 1, -1, -1, 1)
	require.Equal(t, []float32{float32(math.Inf(1)), float32(math.Inf(-1))}, tensor.View[float32](applyOne(t, NewNormalizedDifference(0, 1), z)))
	require.Equal(t, []float32{2e10, -2e10}, tensor.View[float32](applyOne(t, &NormalizedDifference{0, 1, 1e-10}, z)))

	refusesParam(t, "a is -1, want 0 to 63", NewNormalizedDifference(-1, 0))
	refusesParam(t, "b is 64, want 0 to 63", NewNormalizedDifference(0, 64))
	for _, v := range notFinite {
		refusesParam(t, "epsilon", &NormalizedDifference{0, 1, v})
	}
	refusesInput(t, "want an image", NewNormalizedDifference(0, 1), vector)
	refusesInput(t, "has no channel 3", NewNormalizedDifference(0, 3), rgb8)
	refusesInput(t, "want dtype", NewNormalizedDifference(0, 1), tensor.Image(tensor.Int32, tensor.HWC, 1, 1, 2))
}

func ExampleNormalizedDifference() {
	// Near infrared is channel 1, red is channel 0.
	y := exampleRun(NewNormalizedDifference(1, 0), exampleBytes(1, 2, 2, 10, 30, 20, 20))[0]
	fmt.Println(y.Desc, tensor.View[float32](y))
	// Output: float32 HWC (1, 2, 1) [0.5 0]
}
