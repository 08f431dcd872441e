package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// clip returns a video of n frames of one pixel, whose values are their
// numbers.
func clip(n int) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(n, 1, 1, 1)})
	if err != nil {
		panic(err)
	}
	for i := range x.Data {
		x.Data[i] = uint8(i)
	}
	return x
}

func TestUniformTemporalSubsample(t *testing.T) {
	for n, want := range map[int][]byte{1: {0}, 2: {0, 6}, 3: {0, 3, 6}, 5: {0, 1, 3, 4, 6}, 9: {0, 0, 1, 2, 3, 3, 4, 5, 6}} {
		require.Equal(t, want, applyOne(t, NewUniformTemporalSubsample(n), clip(7)).Data)
	}
	var out [1]tensor.Desc
	require.NoError(t, NewUniformTemporalSubsample(4).Infer(out[:], []tensor.Desc{{DType: tensor.Uint8, Shape: tensor.Dims(2, tensor.Unknown, 3, 4, 5)}}))
	require.Equal(t, tensor.Dims(2, 4, 3, 4, 5), out[0].Shape)
	refusesParam(t, "samples", NewUniformTemporalSubsample(0))
	refusesInput(t, "at least four axes", NewUniformTemporalSubsample(1), rgb8)
	refusesInput(t, "1 to 16777216 frames", NewUniformTemporalSubsample(1), tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(0, 3, 4, 5)})
	refusesInput(t, "fixed size", NewUniformTemporalSubsample(1), tensor.Encoded())
}

func ExampleUniformTemporalSubsample() {
	fmt.Println(exampleRun(NewUniformTemporalSubsample(3), clip(10))[0].Data)
	// Output: [0 4 9]
}
