package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadToMin(t *testing.T) {
	refusesParam(t, "height", NewPadToMin(0, 5))
	refusesParam(t, "width", NewPadToMin(5, maxSide+1))
	refusesParam(t, "position", &PadToMin{Height: 1, Width: 1, Position: 9, Fill: []float64{0}})
	refusesInput(t, "fill", &PadToMin{Height: 1, Width: 1, Fill: []float64{-1}}, rgb8)
	refusesInput(t, "want an image", NewPadToMin(1, 1), tensor.Encoded())
}

func ExamplePadToMin() {
	y := exampleRun(NewPadToMin(1, 3), exampleBytes(2, 2, 1, 1, 2, 3, 4))[0]
	fmt.Println(y.Shape, y.Data)
	// Output: (2, 3, 1) [1 2 0 3 4 0]
}
