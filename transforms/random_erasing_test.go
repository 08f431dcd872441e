package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomErasing(t *testing.T) {
	op := NewRandomErasing()
	op.Scale = Range{0, 1.1}
	refusesParam(t, "scale", op)
	op = NewRandomErasing()
	op.Ratio = Range{0, 1}
	refusesParam(t, "ratio", op)
	op = NewRandomErasing()
	op.Value = nil
	refusesParam(t, "value", op)
	op.Value = []float64{0.5}
	refusesInput(t, "cannot hold value[0]", op, rgb8)
	op.Noise = true
	refusesInput(t, "want dtype", op, rgb8)

	// The box is never as high or as wide as the image.
	op = NewRandomErasing()
	op.Probability, op.Scale = 1, Range{1, 1}
	require.Empty(t, exampleDraw(op, 0))
}

func ExampleRandomErasing() {
	op := NewRandomErasing()
	op.Probability, op.Value = 1, []float64{124, 116, 104}
	fmt.Println(exampleDraw(op, 0))
	// Output: [{"op":"erase","version":1,"params":{"top":1,"left":2,"height":2,"width":4,"value":[124,116,104]}}]
}
