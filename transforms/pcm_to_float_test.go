package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPCMToFloat(t *testing.T) {
	y := applyOne(t, NewPCMToFloat(), array(tensor.Int16, []int16{-32768, 0, 16384, 32767}, 2, 2))
	require.Equal(t, []float32{-1, 0, 0.5, 32767.0 / 32768}, tensor.View[float32](y))
	y = applyOne(t, NewPCMToFloat(), array(tensor.Int32, []int32{-1 << 31, 1<<31 - 1, 1}, 3))
	require.Equal(t, []float32{-1, 1, 0x1p-31}, tensor.View[float32](y))

	refusesInput(t, "want int16 or int32", NewPCMToFloat(), vector)
	refusesInput(t, "want int16 or int32", NewPCMToFloat(), tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(1, 2, 3)})
}

func ExamplePCMToFloat() {
	y := exampleRun(NewPCMToFloat(), array(tensor.Int16, []int16{-32768, 0, 16384}, 3))[0]
	fmt.Println(y.Desc, tensor.View[float32](y))
	// Output: float32 (3,) [-1 0 0.5]
}
