package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestKeepRows(t *testing.T) {
	refusesParam(t, "side", NewKeepRows(0))
	rows := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 3)}
	for _, c := range [][3]int{{5, 9, 2}, {9, 5, 2}, {8, 8, 0}, {1, 1, 0}, {tensor.Unknown, 3, tensor.Unknown}, {tensor.Unknown, 9, 2}} {
		var out [1]tensor.Desc
		require.NoError(t, NewKeepRows(8).Infer(out[:], []tensor.Desc{rows, tensor.Image(tensor.Uint8, tensor.HWC, c[0], c[1], 3)}))
		require.Equal(t, tensor.Dims(c[2], 3), out[0].Shape, "%v", c)
	}
}

func ExampleKeepRows() {
	rows, _ := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(2, 1)})
	for _, side := range []int{2, 3} {
		fmt.Println(exampleRun(NewKeepRows(side), rows, exampleBytes(1, 3, 1, 1, 2, 3))[0].Shape)
	}
	// Output:
	// (2, 1)
	// (0, 1)
}
