package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// refusesPair requires Infer to return an ErrInput whose text contains word.
func refusesPair(t *testing.T, word string, op Op, a, b tensor.Desc) {
	t.Helper()
	err := op.Infer(make([]tensor.Desc, 1), []tensor.Desc{a, b})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, word)
}

func TestConcatChannels(t *testing.T) {
	op := NewConcatChannels()
	refusesPair(t, "want the same dtype and layout", op, rgb8, rgb32)
	refusesPair(t, "want the same size", op, rgb8, rgb8.WithSize(3, 5))
	refusesPair(t, "want the same size", op, rgb8, rgb8.WithSize(4, 6))
	refusesPair(t, "channels", op, rgb8.WithChannels(1<<25), rgb8)
	var out [1]tensor.Desc
	require.NoError(t, op.Infer(out[:], []tensor.Desc{rgb8, rgb8.WithChannels(tensor.Unknown)}))
	require.Equal(t, rgb8.WithChannels(tensor.Unknown), out[0])
}

func ExampleConcatChannels() {
	y := exampleRun(NewConcatChannels(), exampleBytes(1, 2, 1, 1, 2), exampleBytes(1, 2, 2, 3, 4, 5, 6))[0]
	fmt.Println(y.Shape, y.Data)
	// Output: (1, 2, 3) [1 3 4 2 5 6]
}
