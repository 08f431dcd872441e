package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestSlicePatches(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 1, 2, 3, 4, 5, 6)
	op := NewSlicePatches(1, 2)
	op.Fill = []float64{9}
	got := applyOne(t, op, x)
	require.Equal(t, tensor.Dims(2, 2, 2, 1), got.Shape)
	require.Equal(t, []byte{1, 2, 4, 5, 3, 9, 6, 9}, got.Data)
	op.Drop = true
	require.Equal(t, []byte{1, 4, 2, 5}, applyOne(t, op, x).Data)
	refusesParam(t, "rows", NewSlicePatches(0, 1))
	refusesParam(t, "columns", NewSlicePatches(1, maxSide+1))
	refusesParam(t, "fill", &SlicePatches{Rows: 1, Columns: 1})
	refusesInput(t, "fewer pixels", NewSlicePatches(5, 1), rgb8)
	refusesInput(t, "fewer pixels", NewSlicePatches(1, 6), rgb8)
	refusesInput(t, "cannot hold", &SlicePatches{Rows: 1, Columns: 1, Fill: []float64{256}}, rgb8)
}

func ExampleSlicePatches() {
	fmt.Println(exampleRun(NewSlicePatches(1, 3), exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6))[0].Data)
	// Output: [1 4 2 5 3 6]
}
