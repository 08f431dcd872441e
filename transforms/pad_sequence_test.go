package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadSequence(t *testing.T) {
	refusesParam(t, "length", NewPadSequence(0))
	refusesParam(t, "fill", &PadSequence{Length: 1, Fill: 1e300})
	refusesInput(t, "want a sequence", NewPadSequence(9), rgb8)
	refusesInput(t, "want a sequence", NewPadSequence(9), tensor.Encoded())
	refusesInput(t, "want a sequence", NewPadSequence(9), tensor.Desc{DType: tensor.Uint8})
	rows := func(n int) tensor.Desc { return tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(n, 3)} }
	refusesInput(t, "cannot hold fill", &PadSequence{Length: 9, Fill: -1}, rows(2))
	refusesInput(t, "more than 4 rows", NewPadSequence(4), rows(5))
	for _, c := range []struct {
		keep    bool
		n, want int
	}{{false, 2, 4}, {true, 2, 4}, {true, 5, 5}, {false, tensor.Unknown, 4}, {true, tensor.Unknown, tensor.Unknown}, {false, 0, 4}} {
		var out [2]tensor.Desc
		require.NoError(t, (&PadSequence{Length: 4, KeepLonger: c.keep}).Infer(out[:], []tensor.Desc{rows(c.n)}))
		require.Equal(t, [2]tensor.Desc{rows(c.want), {DType: tensor.Int32, Shape: tensor.Dims(4)}}, out, "%+v", c)
	}
}

func ExamplePadSequence() {
	out := exampleRun(NewPadSequence(3), labels(false, 7, 8))
	fmt.Println(tensor.View[int32](out[0]), tensor.View[int32](out[1]))
	// Output: [7 8 0] [1 1 0]
}
