package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRGBToHSV(t *testing.T) {
	x := pixelsOf[float64](t, tensor.Float64, tensor.HWC, 1, 4, 3, 1, 0.5, 0.5, 0, 1, 0, 0, 0, 0.5, 0.25, 0.25, 0.25)
	want := []float64{0, 0.5, 1, 1 / 3., 1, 1, 2 / 3., 1, 0.5, 0, 0, 0.25}
	require.Equal(t, want, tensor.View[float64](applyOne(t, NewRGBToHSV(), x)))
	back := applyOne(t, NewHSVToRGB(), applyOne(t, NewRGBToHSV(), x))
	require.InDeltaSlice(t, tensor.View[float64](x), tensor.View[float64](back), 1e-15)
	refusesInput(t, "want dtype", NewRGBToHSV(), rgb8)
	refusesInput(t, "want [3] channels", NewRGBToHSV(), rgb32.WithChannels(1))
}

// exampleColor is a pixel of float64.
func exampleColor(a, b, c float64) *tensor.Tensor {
	x, err := tensor.New(tensor.Image(tensor.Float64, tensor.HWC, 1, 1, 3))
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float64](x), []float64{a, b, c})
	return x
}

func ExampleRGBToHSV() {
	fmt.Println(tensor.View[float64](exampleRun(NewRGBToHSV(), exampleColor(0.25, 0.5, 0.25))[0]))
	// Output: [0.3333333333333333 0.5 0.5]
}
