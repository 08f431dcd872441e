package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestChannelPermutation(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 1, 2, 3, 4, 5, 6)
	require.Equal(t, []byte{3, 1, 2, 6, 4, 5}, applyOne(t, NewChannelPermutation(2, 0, 1), x).Data)
	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 1, 3, 1, 2, 3)
	require.Equal(t, []float32{3, 1, 2}, tensor.View[float32](applyOne(t, NewChannelPermutation(2, 0, 1), f)))

	refusesParam(t, "permutation has 0 numbers", NewChannelPermutation())
	refusesParam(t, "permutation has 65 numbers", NewChannelPermutation(make([]int, 65)...))
	refusesParam(t, "permutation[1] is 0, want each number of 0 to 1 once", NewChannelPermutation(0, 0))
	refusesParam(t, "permutation[0] is 2", NewChannelPermutation(2, 0))
	refusesParam(t, "permutation[0] is -1", NewChannelPermutation(-1, 0))
	refusesInput(t, "want [3] channels", NewChannelPermutation(2, 0, 1), rgb8.WithChannels(4))
	refusesInput(t, "want an image", NewChannelPermutation(0), vector)
}

func ExampleChannelPermutation() {
	fmt.Println(exampleRun(NewChannelPermutation(2, 0, 1), exampleBytes(1, 1, 3, 10, 20, 30))[0].Data)
	// Output: [30 10 20]
}
