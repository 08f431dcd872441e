package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestNearestColor(t *testing.T) {
	op := new(NearestColor)
	*op = *InfoOf(op).New().(*NearestColor)
	refusesParam(t, "colors", NewNearestColor(op.Colors[:45]))
	refusesParam(t, "colors", NewNearestColor(op.Colors[:47]))
	refusesParam(t, "dtype", &NearestColor{Colors: op.Colors, DType: tensor.Uint8})
	refusesInput(t, "want dtype", op, rgb8)
	refusesInput(t, "want [3] channels", op, rgb32.WithChannels(1))
	refusesInput(t, "want at least 2", op, rgb32.WithSize(1, 1))
}

func ExampleNearestColor() {
	// Sixteen grays of 0 to 15.
	var grays []float64
	for i := range 16 {
		v := float64(i)
		grays = append(grays, v, v, v)
	}
	y := exampleRun(NewNearestColor(grays), exampleFloats(1, 2, 3, 4.1, 4, 4, 9, 9, 8.7))[0]
	fmt.Println(tensor.View[int64](y))
	// Output: [4 9]
}
