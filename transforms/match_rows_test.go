package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMatchRows(t *testing.T) {
	rows := func(dims ...int) tensor.Desc { return tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(dims...)} }
	const u = tensor.Unknown
	for _, c := range []struct {
		rows, other tensor.Desc
		want        int // -2: refused
	}{
		{rows(3, 2), rows(2), 2}, {rows(3, 2), rows(0, 7), 0}, {rows(3, 2), rows(3), 3}, {rows(3, 2), rows(u), u}, {rows(u, 2), rows(9), 9},
		{rows(3, 2), rows(4), -2}, {rows(), rows(1), -2}, {rows(3), rows(), -2},
	} {
		var out [1]tensor.Desc
		err := NewMatchRows().Infer(out[:], []tensor.Desc{c.rows, c.other})
		if c.want == -2 {
			require.ErrorIs(t, err, ErrInput, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, rows(c.want, 2), out[0], "%v", c)
	}
}

func ExampleMatchRows() {
	rows, _ := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(5, 2)})
	other, _ := tensor.New(tensor.Desc{DType: tensor.Bool, Shape: tensor.Dims(3)})
	fmt.Println(exampleRun(NewMatchRows(), rows, other)[0].Shape)
	// Output: (3, 2)
}
