package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomOrder(t *testing.T) {
	refusesParam(t, "ops has 0 ops", NewRandomOrder())
	refusesInput(t, "depending on the draw", NewRandomOrder(NewToTensor(), NewInvert()), rgb8)
	d, err := inferOne(NewRandomOrder(NewResize(9, 5), NewInvert()), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, 5), d, "what an op may find is all that is known")
	d, err = inferOne(NewRandomOrder(NewResize(9, 7), NewCrop(0, 0, 9, 7)), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(9, 7), d)
}

func ExampleRandomOrder() {
	op := NewRandomOrder(NewInvert(), NewVerticalFlip())
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"invert","version":1,"params":{}},{"op":"vertical_flip","version":1,"params":{}}]
	// [{"op":"vertical_flip","version":1,"params":{}},{"op":"invert","version":1,"params":{}}]
}
