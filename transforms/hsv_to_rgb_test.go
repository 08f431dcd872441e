package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestHSVToRGB(t *testing.T) {
	x := pixelsOf[float64](t, tensor.Float64, tensor.CHW, 1, 2, 3, 0, 0.5, 0, 1, 0.75, 0.5)
	require.Equal(t, []float64{0.75, 0, 0.75, 0.5, 0.75, 0.5}, tensor.View[float64](applyOne(t, NewHSVToRGB(), x)))
	nan := pixelsOf[float64](t, tensor.Float64, tensor.CHW, 1, 1, 3, math.NaN(), 1, 1)
	require.Equal(t, 1.0, tensor.View[float64](applyOne(t, NewHSVToRGB(), nan))[0])
	refusesInput(t, "want dtype", NewHSVToRGB(), rgb8)
	refusesInput(t, "want [3] channels", NewHSVToRGB(), rgb32.WithChannels(4))
}

func ExampleHSVToRGB() {
	fmt.Println(tensor.View[float64](exampleRun(NewHSVToRGB(), exampleColor(0.25, 1, 1))[0]))
	// Output: [0.5 1 0]
}
