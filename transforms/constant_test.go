package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestConstant(t *testing.T) {
	x := randomImage(t, tensor.Uint8, tensor.CHW, 4, 7, 3)
	got := applyOne(t, NewConstant(-3), x)
	require.Equal(t, tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims()}, got.Desc)
	require.Equal(t, []int64{-3}, tensor.View[int64](got))
	require.Equal(t, []float32{0.1}, tensor.View[float32](applyOne(t, &Constant{Value: 0.1, DType: tensor.Float32}, x)))
	refusesParam(t, "dtype", &Constant{})
	refusesParam(t, "dtype", &Constant{DType: tensor.Bytes})
	refusesParam(t, "value", &Constant{Value: 256, DType: tensor.Uint8})
	refusesParam(t, "value", NewConstant(0.5))
}

func ExampleConstant() {
	out := exampleRun(NewConstant(2), exampleBytes(1, 1, 1, 9))
	fmt.Println(out[0].Shape, tensor.View[int64](out[0]))
	// Output: () [2]
}
