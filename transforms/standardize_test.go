package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestStandardize(t *testing.T) {
	refusesInput(t, "want dtype", NewStandardize(), tensor.Image(tensor.Uint8, tensor.HWC, 4, 4, 3))
	refusesInput(t, "want an image", NewStandardize(), vector)
	// A flat image is divided by 1/sqrt(n), not by 0.
	x, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 2, 2, 1))
	require.NoError(t, err)
	copy(tensor.View[float32](x), []float32{3, 3, 3, 3})
	require.Equal(t, []float32{0, 0, 0, 0}, tensor.View[float32](applyOne(t, NewStandardize(), x)))
}

func ExampleStandardize() {
	x, _ := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 1, 2, 1))
	copy(tensor.View[float32](x), []float32{10, 20})
	fmt.Println(tensor.View[float32](exampleRun(NewStandardize(), x)[0]))
	// Output: [-1 1]
}
