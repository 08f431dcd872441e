package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMixMono(t *testing.T) {
	y := applyOne(t, NewMixMono(), floats([]float32{1, 0.5, 0, -1, 0.5, 0.25}, 3, 2))
	require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}, y.Desc)
	require.Equal(t, []float32{0.5, float32(-0.25) / 3}, tensor.View[float32](y))

	refusesInput(t, "want a sound: float32 (channels, samples)", NewMixMono(), vector)
	refusesInput(t, "want a sound", NewMixMono(), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(0, 4)})
	refusesInput(t, "want a sound", NewMixMono(), tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(2, 4)})
}

func ExampleMixMono() {
	y := exampleRun(NewMixMono(), floats([]float32{1, 0.5, 0, -1}, 2, 2))[0]
	fmt.Println(y.Desc, tensor.View[float32](y))
	// Output: float32 (2,) [0.5 -0.25]
}
