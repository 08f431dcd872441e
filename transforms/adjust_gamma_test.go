package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustGamma(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 5, 1, 0, 1, 51, 254, 255)
	for _, b := range []Backend{Pillow, Torch} {
		require.Equal(t, []byte{0, 0, 10, 253, 255}, applyOne(t, &AdjustGamma{2, 1, b}, x).Data)
		require.Equal(t, []byte{255, 255, 255, 255, 255}, applyOne(t, &AdjustGamma{0, 1, b}, x).Data)
		require.Equal(t, []byte{0, 2, 102, 255, 255}, applyOne(t, &AdjustGamma{1, 2, b}, x).Data)
		require.Equal(t, make([]byte, 5), applyOne(t, &AdjustGamma{1, 0, b}, x).Data)
	}
	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 3, 1, 0.25, 0.5, 1)
	require.Equal(t, []float32{0.125, 0.5, 1}, tensor.View[float32](applyOne(t, &AdjustGamma{2, 2, Torch}, f)))

	for _, v := range []float64{-0.1, math.NaN(), 1.1e6} {
		refusesParam(t, "gamma", NewAdjustGamma(v))
		refusesParam(t, "gain", &AdjustGamma{1, v, Pillow})
	}
	refusesParam(t, "backend is opencv", &AdjustGamma{1, 1, OpenCV})
	refusesInput(t, "want dtype", NewAdjustGamma(1), rgb32)
	refusesInput(t, "want [1 3] channels", NewAdjustGamma(1), rgb8.WithChannels(4))

	// One Context serves changing parameters, as with a random op.
	c := newContext()
	for _, g := range []float64{0.5, 2, 0.5} {
		y, err := run(c, NewAdjustGamma(g), x)
		require.NoError(t, err)
		require.Equal(t, byte(255.999*math.Pow(0.2, g)), y[0].Data[2])
	}
}

func ExampleAdjustGamma() {
	fmt.Println(exampleRun(NewAdjustGamma(0.5), exampleBytes(1, 3, 1, 10, 100, 200))[0].Data)
	// Output: [50 160 226]
}
