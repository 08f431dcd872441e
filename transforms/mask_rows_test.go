package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMaskRows(t *testing.T) {
	refusesInput(t, "want a sequence of float32", NewMaskRows(), tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(2, 3)})
	refusesInput(t, "want a sequence of float32", NewMaskRows(), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)})
	refusesInput(t, "want a sequence of float32", NewMaskRows(), tensor.Image(tensor.Float32, tensor.HWC, 2, 3, 1))
}

func ExampleMaskRows() {
	x, _ := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 2)})
	copy(tensor.View[float32](x), []float32{1, 2, 3, -3, 0, 0})
	fmt.Println(tensor.View[float32](exampleRun(NewMaskRows(), x)[0]))
	// Output: [1 0 0]
}
