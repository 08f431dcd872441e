package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestSlice(t *testing.T) {
	for s, want := range map[string][]int32{
		"1:3": {1, 2}, ":": {0, 1, 2, 3, 4}, "::-2": {4, 2, 0}, "-2:": {3, 4}, "9:": {}, "2": {2}, "-1,0,0": {4, 0, 0},
		"-2147483647:2147483647:2147483647": {0}, "::-2147483647": {4},
	} {
		require.Equal(t, want, append([]int32{}, tensor.View[int32](applyOne(t, NewSlice(s), labels(false, 0, 1, 2, 3, 4)))...), s)
	}
	require.Equal(t, []byte{6, 4}, applyOne(t, NewSlice("-1", "::-2"), exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6)).Data)
	var out [1]tensor.Desc
	unknown := []tensor.Desc{{DType: tensor.Int8, Shape: tensor.Dims(tensor.Unknown, 2)}}
	require.NoError(t, NewSlice("0,7").Infer(out[:], unknown))
	require.Equal(t, tensor.Dims(2, 2), out[0].Shape)
	require.NoError(t, NewSlice("0:7").Infer(out[:], unknown))
	require.Equal(t, tensor.Dims(tensor.Unknown, 2), out[0].Shape)
	for _, s := range []string{"", ",", "1,", ",1", "a", "1:a", "b:", "::0", "1:2:3:4", "+1", " 1", "1.5", "2147483648", "-2147483648", ":+1", "0x1"} {
		refusesParam(t, fmt.Sprintf("slices[1] is %q", s), NewSlice(":", s))
	}
	refusesParam(t, "9 slices", NewSlice(":", ":", ":", ":", ":", ":", ":", ":", ":"))
	refusesInput(t, "an axis of 4 has no index 4", NewSlice("4"), vector)
	refusesInput(t, "an axis of 4 has no index -5", NewSlice("0,-5"), vector)
	refusesInput(t, "fewer axes than the 2 slices", NewSlice(":", ":"), vector)
	refusesInput(t, "fixed size", NewSlice(), tensor.Encoded())
}

func ExampleSlice() {
	img := exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6)
	fmt.Println(exampleRun(NewSlice("0", "::2"), img)[0].Data)
	fmt.Println(exampleRun(NewSlice("::-1", "1:"), img)[0].Data)
	// Output:
	// [1 3]
	// [5 6 2 3]
}
