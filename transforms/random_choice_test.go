package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomChoice(t *testing.T) {
	refusesParam(t, "ops has 0 ops", NewRandomChoice())
	op := NewRandomChoice(NewInvert(), NewVerticalFlip())
	for _, w := range [][]float64{{1}, {0, 0}, {-1, 2}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		op.Weights = w
		refusesParam(t, "weights", op)
	}
	refusesInput(t, "depending on the draw", NewRandomChoice(NewToTensor(), NewInvert()), rgb8)
	d, err := inferOne(NewRandomChoice(NewResize(9, 7), NewCrop(0, 0, 9, 3)), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(9, tensor.Unknown), d)
}

func ExampleRandomChoice() {
	op := NewRandomChoice(NewInvert(), NewVerticalFlip())
	op.Weights = []float64{3, 1}
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"invert","version":1,"params":{}}]
	// [{"op":"invert","version":1,"params":{}}]
	// [{"op":"invert","version":1,"params":{}}]
}
