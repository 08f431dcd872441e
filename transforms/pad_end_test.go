package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPadEnd(t *testing.T) {
	require.Equal(t, []int32{1, 2, 3, 10}, tensor.View[int32](applyOne(t, &PadEnd{IndexList{4}, 10}, labels(false, 1, 2, 3))))
	require.Equal(t, []int32{1, 2}, tensor.View[int32](applyOne(t, NewPadEnd(2), labels(false, 1, 2, 3))))
	require.Equal(t, []int32{0, 0}, tensor.View[int32](applyOne(t, NewPadEnd(2), labels(false))))
	for in, want := range map[int]int{tensor.Unknown: tensor.Unknown, 7: 7} {
		var out [1]tensor.Desc
		require.NoError(t, NewPadEnd(0, 4).Infer(out[:], []tensor.Desc{{DType: tensor.Int8, Shape: tensor.Dims(in, tensor.Unknown)}}))
		require.Equal(t, tensor.Dims(want, 4), out[0].Shape)
	}
	refusesParam(t, "shape[1] is -1", NewPadEnd(1, -1))
	refusesParam(t, "shape has 9 sizes", NewPadEnd(make([]int, 9)...))
	refusesInput(t, "want 2 axes", NewPadEnd(1, 2), vector)
	refusesInput(t, "cannot hold fill = 256", &PadEnd{IndexList{9}, 256}, vector)
	refusesInput(t, "fixed size", NewPadEnd(), tensor.Encoded())
}

func ExamplePadEnd() {
	op := NewPadEnd(0, 3) // keep the rows
	op.Fill = 9
	rows, _ := tensor.Wrap(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(2, 2)}, []byte{1, 2, 3, 4})
	fmt.Println(exampleRun(op, rows)[0].Data)
	// Output: [1 2 9 3 4 9]
}
