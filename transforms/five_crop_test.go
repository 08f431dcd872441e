package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestFiveCrop(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 4, 1, 1, 2, 3, 4, 5, 6, 7, 8)
	got := applyOne(t, NewFiveCrop(1, 3), x)
	require.Equal(t, tensor.Dims(5, 1, 3, 1), got.Shape)
	require.Equal(t, []byte{1, 2, 3, 2, 3, 4, 5, 6, 7, 6, 7, 8, 1, 2, 3}, got.Data)
	refusesParam(t, "height", NewFiveCrop(0, 1))
	refusesParam(t, "width", NewFiveCrop(1, maxSide+1))
	refusesInput(t, "want at least 5 x 1", NewFiveCrop(5, 1), rgb8)
	refusesInput(t, "want at least 1 x 6", NewFiveCrop(1, 6), rgb8)
}

func ExampleFiveCrop() {
	fmt.Println(exampleRun(NewFiveCrop(1, 1), exampleBytes(3, 3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9))[0].Data)
	// Output: [1 3 7 9 5]
}
