package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestTranspose(t *testing.T) {
	refusesParam(t, "axes[1]", NewTranspose(0, 0))
	refusesParam(t, "axes[0]", NewTranspose(2, 1))
	refusesParam(t, "axes[0]", NewTranspose(-1, 0))
	refusesParam(t, "at most 8", NewTranspose(0, 1, 2, 3, 4, 5, 6, 7, 8))
	var out [1]tensor.Desc
	d := tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(2, tensor.Unknown, 4)}
	require.NoError(t, NewTranspose(2, 0, 1).Infer(out[:], []tensor.Desc{d}))
	require.Equal(t, tensor.Dims(4, 2, tensor.Unknown), out[0].Shape)
	require.ErrorIs(t, NewTranspose(1, 0).Infer(out[:], []tensor.Desc{d}), ErrInput)
}

func ExampleTranspose() {
	x := exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6)
	fmt.Println(exampleRun(NewTranspose(1, 0, 2), x)[0].Data)
	// Output: [1 4 2 5 3 6]
}
