package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustSharpness(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 3, 1, 10, 20, 30, 40, 100, 60, 70, 80, 90)
	// (400 + 5*100) / 13 = 69.2
	for _, b := range []Backend{Pillow, Torch, OpenCV} {
		require.Equal(t, []byte{10, 20, 30, 40, 69, 60, 70, 80, 90}, applyOne(t, &AdjustSharpness{0, b}, x).Data)
		require.Equal(t, []byte{10, 20, 30, 40, 131, 60, 70, 80, 90}, applyOne(t, &AdjustSharpness{2, b}, x).Data)
		require.Equal(t, x.Data, applyOne(t, &AdjustSharpness{1, b}, x).Data)
	}
	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 1, 0.25, 2)
	require.Equal(t, []float32{0.25, 2}, tensor.View[float32](applyOne(t, &AdjustSharpness{0, Torch}, f)))

	for _, v := range []float64{-0.1, math.NaN(), 1.1e6} {
		refusesParam(t, "factor", NewAdjustSharpness(v))
	}
	refusesParam(t, "backend is mindspore", &AdjustSharpness{1, MindSpore})
	refusesInput(t, "want dtype", NewAdjustSharpness(1), rgb32)
	refusesInput(t, "want [1 3] channels", NewAdjustSharpness(1), rgb8.WithChannels(2))
}

func ExampleAdjustSharpness() {
	x := exampleBytes(3, 3, 1, 10, 20, 30, 40, 100, 60, 70, 80, 90)
	fmt.Println(exampleRun(NewAdjustSharpness(1.5), x)[0].Data)
	// Output: [10 20 30 40 115 60 70 80 90]
}
