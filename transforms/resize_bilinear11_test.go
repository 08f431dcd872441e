package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeBilinear11(t *testing.T) {
	refusesParam(t, "edge", NewResizeBilinear11(0))
	refusesParam(t, "edge", NewResizeBilinear11(maxSide+1))
	refusesInput(t, "want dtype", NewResizeBilinear11(9), rgb32)
	refusesInput(t, "want sides of 1", NewResizeBilinear11(1), tensor.Image(tensor.Uint8, tensor.HWC, 1, 9, 3))
}

func ExampleResizeBilinear11() {
	y := exampleRun(NewResizeBilinear11(4), exampleBytes(1, 2, 1, 0, 100))[0]
	fmt.Println(y.Shape, y.Data)
	// Output: (2, 4, 1) [0 25 75 100 0 25 75 100]
}
