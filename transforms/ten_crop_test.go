package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestTenCrop(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 4, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	op := NewTenCrop(2, 1)
	got := applyOne(t, op, x)
	require.Equal(t, tensor.Dims(10, 2, 1, 1), got.Shape)
	require.Equal(t, []byte{1, 5, 4, 8, 5, 9, 8, 12, 3, 7, 4, 8, 1, 5, 8, 12, 5, 9, 2, 6}, got.Data)
	op.Vertical = true
	require.Equal(t, []byte{1, 5, 4, 8, 5, 9, 8, 12, 3, 7, 9, 5, 12, 8, 5, 1, 8, 4, 11, 7}, applyOne(t, op, x).Data)
	refusesParam(t, "height", NewTenCrop(0, 1))
	refusesInput(t, "want at least 5 x 1", NewTenCrop(5, 1), rgb8)
}

func ExampleTenCrop() {
	fmt.Println(exampleRun(NewTenCrop(1, 1), exampleBytes(3, 3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9))[0].Data)
	// Output: [1 3 7 9 5 3 1 9 7 5]
}
