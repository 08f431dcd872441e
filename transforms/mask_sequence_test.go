package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMaskSequence(t *testing.T) {
	mask := tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(4)}
	for want, in := range map[string][2]tensor.Desc{
		"want float32":          {mask, mask},
		"mask is":               {soundOf(4), soundOf(4)},
		"one for each of the 5": {soundOf(5), mask},
		"want a sequence":       {rgb8, mask},
		"mask is int32 (2, 2)":  {soundOf(4), {DType: tensor.Int32, Shape: tensor.Dims(2, 2)}},
		"mask: ":                {soundOf(4), {}},
	} {
		var out [1]tensor.Desc
		err := NewMaskSequence().Infer(out[:], in[:])
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
}

func ExampleMaskSequence() {
	mask, _ := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(3)})
	copy(tensor.View[int32](mask), []int32{1, 1, 0})
	out := exampleRun(NewMaskSequence(), waveform(4, -2, 7), mask)
	fmt.Println(tensor.View[float32](out[0]))
	// Output: [4 -2 0]
}
