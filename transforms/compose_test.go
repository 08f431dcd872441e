package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCompose(t *testing.T) {
	refusesParam(t, "ops has 0 ops", NewCompose())
	refusesInput(t, "op 1, to_tensor", NewCompose(NewResize(9, 7), NewToTensor()), rgb32)
	d, err := inferOne(NewCompose(NewResize(9, 7), NewToTensor()), rgb8)
	require.NoError(t, err)
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 9, 7, 3), d)
}

func ExampleCompose() {
	op := NewRandomChoice(NewCompose(NewInvert(), NewVerticalFlip()), NewHorizontalFlip())
	fmt.Println(exampleDraw(op, 0))
	// Output: [{"op":"horizontal_flip","version":1,"params":{}}]
}
