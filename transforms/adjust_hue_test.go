package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustHue(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 255, 0, 0)
	for _, b := range []Backend{Pillow, OpenCV, Torch} {
		y := applyOne(t, &AdjustHue{1.0 / 3, b}, x).Data
		require.True(t, y[0] < 5 && y[1] > 250 && y[2] < 5, "%v: red becomes green: %v", b, y)
	}
	gray := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 3, 4)
	require.Equal(t, gray.Data, applyOne(t, NewAdjustHue(0.3), gray).Data)
	for _, f := range []float64{0.51, -0.51, math.NaN()} {
		refusesParam(t, "factor", NewAdjustHue(f))
	}
	refusesParam(t, "backend", &AdjustHue{0, 9})
	refusesParam(t, "backend", &AdjustHue{0, MXNet})
	refusesInput(t, "want dtype", NewAdjustHue(0), rgb32)
}

func ExampleAdjustHue() {
	fmt.Println(exampleRun(NewAdjustHue(1.0/3), exampleBytes(1, 1, 3, 255, 0, 0))[0].Data)
	// Output: [0 255 0]
}
