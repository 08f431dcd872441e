package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPatchPositions(t *testing.T) {
	refusesParam(t, "patch", NewPatchPositions(0))
	refusesInput(t, "want an image", NewPatchPositions(1), vector)
	refusesInput(t, "multiples of 4", NewPatchPositions(4), tensor.Image(tensor.Uint8, tensor.HWC, 8, 9, 3))
	refusesInput(t, "want sides of at most", NewPatchPositions(1), tensor.Image(tensor.Uint8, tensor.HWC, 1, maxSide+1, 1))
	for h, want := range map[int]int{8: 6, tensor.Unknown: tensor.Unknown} {
		var out [1]tensor.Desc
		require.NoError(t, NewPatchPositions(4).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, h, 12, 3)}))
		require.Equal(t, tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(want, 2)}, out[0])
	}
}

func ExamplePatchPositions() {
	out := exampleRun(NewPatchPositions(1), exampleBytes(2, 2, 1, 9, 9, 9, 9))
	fmt.Println(out[0].Shape, tensor.View[int64](out[0]))
	// Output: (4, 2) [0 0 1 0 0 1 1 1]
}
