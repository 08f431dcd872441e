package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func boxOf(v ...float64) *tensor.Tensor {
	b, err := tensor.New(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(len(v))})
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float64](b), v)
	return b
}

func TestWarpBox(t *testing.T) {
	refusesParam(t, "height", NewWarpBox(0, 5))
	refusesParam(t, "want at least 2", NewWarpBox(1, 5))
	refusesParam(t, "factor", &WarpBox{Height: 2, Width: 2})
	refusesParam(t, "factor", &WarpBox{Height: 2, Width: 2, Factor: -1})
	op := NewWarpBox(4, 3)
	box := boxOf(0, 0, 1, 1).Desc
	refusesPair(t, "want dtype", op, rgb32, box)
	refusesPair(t, "want float64 (4)", op, rgb8, boxOf(1, 2, 3).Desc)
	refusesPair(t, "want float64 (4)", op, rgb8, rgb8)
	x, err := tensor.New(rgb8)
	require.NoError(t, err)
	for _, b := range [][]float64{
		{0, 0, 0, 0}, {0, 0, -3, -4}, {0, 0, math.NaN(), 1}, {math.Inf(1), 0, 1, 1}, {0, 0, math.Inf(1), 1}, {0, 0, 1e300, 1}, {1e300, 0, 1, 1}, {0, 0, 1e-300, 1e-300},
	} {
		_, err := run(newContext(), op, x, boxOf(b...))
		require.ErrorIs(t, err, ErrInput, "%v", b)
	}
}

func ExampleWarpBox() {
	// The box of the whole image grows by 1.25, so the corners lie outside.
	y := exampleRun(NewWarpBox(3, 3), exampleBytes(2, 2, 1, 10, 20, 30, 40), boxOf(-0.5, -0.5, 2, 2))[0]
	fmt.Println(y.Data)
	// Output: [0 0 0 0 25 0 0 0 0]
}
