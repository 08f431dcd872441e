package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestSplitSide(t *testing.T) {
	refusesParam(t, "size", NewSplitSide(0))
	refusesInput(t, "want an image", NewSplitSide(1), vector)
	refusesInput(t, "want sides of at most", NewSplitSide(1), tensor.Image(tensor.Uint8, tensor.HWC, 1, maxSide+1, 1))
	var out [2]tensor.Desc
	require.NoError(t, NewSplitSide(4).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, 9, 3)}))
	require.Equal(t, tensor.Dims(tensor.Unknown, 3, tensor.Unknown, tensor.Unknown), out[0].Shape)
	require.Equal(t, tensor.Dims(tensor.Unknown, 3), out[1].Shape)
	// The first and the last window touch the image's edges.
	for side := 1; side < 400; side++ {
		for _, size := range []int{1, 3, 7, 64} {
			o := NewSplitSide(size)
			n := o.windows(side)
			require.Zero(t, o.start(0, n, side))
			for i := range n {
				require.LessOrEqual(t, o.start(i, n, side)+min(size, side), side)
			}
		}
	}
}

func ExampleSplitSide() {
	out := exampleRun(NewSplitSide(3), exampleBytes(1, 5, 1, 1, 2, 3, 4, 5))
	fmt.Println(out[0].Shape, out[0].Data, tensor.View[int64](out[1]))
	// Output: (2, 1, 3, 1) [1 2 3 3 4 5] [0 0 3 0 2 5]
}
