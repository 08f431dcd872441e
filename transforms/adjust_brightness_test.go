package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustBrightness(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 1, 101, 200)
	require.Equal(t, []byte{1, 151, 255}, applyOne(t, NewAdjustBrightness(1.5), x).Data)
	require.Equal(t, []byte{1, 151, 255}, applyOne(t, &AdjustBrightness{1.5, Torch}, x).Data)
	require.Equal(t, []byte{2, 152, 255}, applyOne(t, &AdjustBrightness{1.5, OpenCV}, x).Data)
	for _, f := range []float64{-0.1, math.NaN(), math.Inf(1), 1e39} {
		refusesParam(t, "factor", NewAdjustBrightness(f))
		refusesParam(t, "factor", NewAdjustContrast(f))
		refusesParam(t, "factor", NewAdjustSaturation(f))
	}
	refusesParam(t, "backend", &AdjustBrightness{1, 9})
	refusesParam(t, "backend", &AdjustBrightness{1, OpenCV4})
	require.NoError(t, (&AdjustBrightness{-1e6, MXNet}).Validate())
	refusesParam(t, "factor", &AdjustBrightness{-1.1e6, MXNet})
	gray := []tensor.Desc{rgb8.WithChannels(1)}
	require.NoError(t, (&AdjustBrightness{1, MXNet}).Infer(gray, gray))
	require.Equal(t, []byte{2, 152, 255}, applyOne(t, &AdjustBrightness{1.5, MXNet}, x).Data)
	refusesInput(t, "want dtype", NewAdjustBrightness(1), rgb32)
	refusesInput(t, "want [1 3] channels", NewAdjustBrightness(1), rgb8.WithChannels(4))
	refusesInput(t, "want [3] channels", &AdjustBrightness{1, OpenCV}, rgb8.WithChannels(1))

	// One Context serves changing factors, as with a random op.
	c := newContext()
	for _, f := range []float64{0.5, 2, 0.5} {
		y, err := run(c, NewAdjustBrightness(f), x)
		require.NoError(t, err)
		require.Equal(t, byte(min(101*f, 255)), y[0].Data[1])
	}
}

func ExampleAdjustBrightness() {
	fmt.Println(exampleRun(NewAdjustBrightness(1.5), exampleBytes(1, 1, 3, 1, 101, 200))[0].Data)
	// Output: [1 151 255]
}
