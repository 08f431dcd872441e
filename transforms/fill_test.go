package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestFill(t *testing.T) {
	require.Equal(t, []int32{-7, -7}, tensor.View[int32](applyOne(t, NewFill(-7), labels(false, 1, 2))))
	require.Empty(t, applyOne(t, NewFill(1), labels(false)).Data)
	half, err := tensor.New(tensor.Desc{DType: tensor.Float16, Shape: tensor.Dims(2)})
	require.NoError(t, err)
	require.Equal(t, []uint16{0x3C00, 0x3C00}, tensor.View[uint16](applyOne(t, NewFill(1), half)))
	refusesParam(t, "value", NewFill(math.NaN()))
	refusesParam(t, "value", NewFill(math.Inf(1)))
	for _, v := range []float64{-1, 256, 1.5} {
		refusesInput(t, fmt.Sprint("cannot hold value = ", v), NewFill(v), vector)
	}
	refusesInput(t, "fixed size", NewFill(0), tensor.Encoded())
}

func ExampleFill() {
	fmt.Println(tensor.View[int32](exampleRun(NewFill(3), labels(false, 0, 1, 2))[0]))
	// Output: [3 3 3]
}
