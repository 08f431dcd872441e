package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestUniformAugment(t *testing.T) {
	refusesParam(t, "num_ops is 0", NewUniformAugment(0, NewInvert()))
	refusesParam(t, "num_ops is 2, want 1 to 1", NewUniformAugment(2, NewInvert()))
	refusesParam(t, "ops has 0 ops", NewUniformAugment(1))
	refusesInput(t, "want the same dtype", NewUniformAugment(1, NewInvert(), NewToTensor()), rgb8)
	d, err := inferOne(NewUniformAugment(1, NewInvert(), NewResize(rgb8.Height()+1, rgb8.Width())), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, rgb8.Width()), d)
}

func ExampleUniformAugment() {
	op := NewUniformAugment(2, NewHorizontalFlip(), NewVerticalFlip(), NewInvert())
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"horizontal_flip","version":1,"params":{}},{"op":"vertical_flip","version":1,"params":{}}]
	// [{"op":"horizontal_flip","version":1,"params":{}}]
}
