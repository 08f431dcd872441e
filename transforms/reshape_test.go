package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestReshape(t *testing.T) {
	refusesParam(t, "shape[1]", NewReshape(1, -2))
	refusesParam(t, "shape[0]", NewReshape(1<<24+1))
	refusesParam(t, "at most 1", NewReshape(-1, -1))
	refusesParam(t, "at most 8", NewReshape(1, 1, 1, 1, 1, 1, 1, 1, 1))
	const u = tensor.Unknown
	for _, c := range []struct {
		in, shape, want []int // no want: refused
	}{
		{[]int{6}, []int{2, 3}, []int{2, 3}},
		{[]int{4, 6}, []int{-1, 8}, []int{3, 8}},
		{[]int{1}, nil, []int{}},
		{nil, []int{1, -1}, []int{1, 1}},
		{[]int{0, 3}, []int{-1, 3}, []int{0, 3}},
		{[]int{0, 3}, []int{5, 0}, []int{5, 0}},
		{[]int{u, 3}, []int{-1, 3}, []int{u, 3}},
		{[]int{u, 3}, []int{2, 3}, []int{2, 3}},
		{[]int{6}, []int{4}, nil},
		{[]int{6}, []int{-1, 4}, nil},
		{[]int{0, 3}, []int{-1, 0}, nil},
		{[]int{6}, nil, nil},
		{[]int{6}, []int{1 << 24, 1 << 24, 1 << 24}, nil},
	} {
		var out [1]tensor.Desc
		err := NewReshape(c.shape...).Infer(out[:], []tensor.Desc{{DType: tensor.Int16, Shape: tensor.Dims(c.in...)}})
		if c.want == nil {
			require.ErrorIs(t, err, ErrInput, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(c.want...)}, out[0], "%v", c)
	}
	var out [1]tensor.Desc
	require.ErrorIs(t, NewReshape(-1).Infer(out[:], []tensor.Desc{{DType: tensor.Uint8, Shape: tensor.Dims(math.MaxInt, 2)}}), ErrInput)
}

func ExampleReshape() {
	x, _ := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(4, 3)})
	fmt.Println(exampleRun(NewReshape(-1, 2, 3), x)[0].Shape)
	// Output: (2, 2, 3)
}
