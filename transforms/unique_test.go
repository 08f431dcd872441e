package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestUnique(t *testing.T) {
	out, err := run(newContext(), NewUnique(), labels(false, 3, 1, 3, 3))
	require.NoError(t, err)
	require.Equal(t, []int32{3, 1}, tensor.View[int32](out[0]))
	require.Equal(t, []int32{0, 1, 0, 0}, tensor.View[int32](out[1]))
	require.Equal(t, []int32{3, 1}, tensor.View[int32](out[2]))
	for _, x := range []*tensor.Tensor{labels(false), labels(true, 5)} {
		out, err = run(newContext(), NewUnique(), x)
		require.NoError(t, err)
		for _, y := range out {
			require.Equal(t, tensor.Dims(int(x.Len())), y.Shape)
		}
	}
	// MindSpore has no bfloat16.
	brain, err := tensor.New(tensor.Desc{DType: tensor.BFloat16, Shape: tensor.Dims(4)})
	require.NoError(t, err)
	nan := tensor.BFloat16FromFloat32(float32(math.NaN()))
	copy(tensor.View[uint16](brain), []uint16{0x3F80, nan, 0x3F80, nan})
	out, err = run(newContext(), NewUnique(), brain)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 1, 0, 2}, tensor.View[int32](out[1]))
	refusesInput3(t, "at most 16777216", NewUnique(), tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(1<<12, 1<<12+1)})
	refusesInput3(t, "fixed size", NewUnique(), tensor.Encoded())
}

// TestUniqueMany compares with a map, for values that share their low or high
// bits.
func TestUniqueMany(t *testing.T) {
	x, err := tensor.New(tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(3000)})
	require.NoError(t, err)
	for _, step := range []int64{1, 1 << 20, 1 << 40, 1 << 52, -1 << 60} {
		places, counts := map[int64]int32{}, map[int64]int32{}
		v := tensor.View[int64](x)
		for i := range v {
			v[i] = int64(i*i%700) * step
			if _, ok := places[v[i]]; !ok {
				places[v[i]] = int32(len(places))
			}
			counts[v[i]]++
		}
		out, err := run(newContext(), NewUnique(), x)
		require.NoError(t, err)
		require.Equal(t, tensor.Dims(len(places)), out[0].Shape)
		for i, at := range tensor.View[int32](out[1]) {
			require.Equal(t, places[v[i]], at)
			require.Equal(t, v[i], tensor.View[int64](out[0])[at])
			require.Equal(t, counts[v[i]], tensor.View[int32](out[2])[at])
		}
	}
}

func ExampleUnique() {
	out := exampleRun(NewUnique(), labels(false, 0, -1, -2, -1))
	for _, t := range out {
		fmt.Println(tensor.View[int32](t))
	}
	// Output:
	// [0 -1 -2]
	// [0 1 2 1]
	// [1 2 1]
}
