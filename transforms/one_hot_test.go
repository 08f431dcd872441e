package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// labels returns a vector of int32, or a scalar.
func labels(scalar bool, v ...int32) *tensor.Tensor {
	d := tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(v))}
	if scalar {
		d.Shape = tensor.Dims()
	}
	x, err := tensor.New(d)
	if err != nil {
		panic(err)
	}
	copy(tensor.View[int32](x), v)
	return x
}

func TestOneHot(t *testing.T) {
	require.Equal(t, []int32{0, 0, 1, 0}, tensor.View[int32](applyOne(t, NewOneHot(4), labels(true, 2))))
	y := applyOne(t, NewOneHot(2), labels(false, 1, 0))
	require.Equal(t, tensor.Dims(2, 2), y.Shape)
	require.Equal(t, []int32{0, 1, 1, 0}, tensor.View[int32](y))
	require.Equal(t, []float64{0.05, 0.9500000000000001}, tensor.View[float64](applyOne(t, &OneHot{2, 0.1}, labels(true, 1))))
	for _, v := range []int32{-1, 4, math.MaxInt32} {
		_, err := run(newContext(), NewOneHot(4), labels(true, v))
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, fmt.Sprint("label ", v))
	}
	refusesParam(t, "classes", NewOneHot(0))
	refusesParam(t, "smoothing", &OneHot{2, 1.1})
	refusesInput(t, "integer", NewOneHot(2), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)})
	refusesInput(t, "want a scalar label", NewOneHot(2), tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(2, 2)})
	refusesInput(t, "want a scalar label", NewOneHot(2), tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(tensor.Unknown)})
}

func ExampleOneHot() {
	fmt.Println(tensor.View[int32](exampleRun(NewOneHot(4), labels(true, 2))[0]))
	// Output: [0 0 1 0]
}
