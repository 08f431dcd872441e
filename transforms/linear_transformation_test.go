package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestLinearTransformation(t *testing.T) {
	matrix, mean := []float64{1, 2, 3, 4}, []float64{1, 10}
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 2, 3, 20)
	require.Equal(t, []float32{32, 44}, tensor.View[float32](applyOne(t, NewLinearTransformation(matrix, mean), x)))
	require.Equal(t, []float64{32, 44}, tensor.View[float64](applyOne(t, &LinearTransformation{matrix, mean, MindSpore}, x)))

	refusesParam(t, "mean has 0 values", NewLinearTransformation(nil, nil))
	refusesParam(t, "mean has 4097 values", NewLinearTransformation(nil, make([]float64, 4097)))
	refusesParam(t, "matrix has 3 values, want 4", NewLinearTransformation(matrix[:3], mean))
	refusesParam(t, "mean[0]", NewLinearTransformation([]float64{1}, []float64{math.NaN()}))
	refusesParam(t, "matrix[0]", NewLinearTransformation([]float64{1e39}, []float64{1}))
	refusesParam(t, "backend is pillow", &LinearTransformation{matrix, mean, Pillow})
	refusesInput(t, "want an image of 2 values", NewLinearTransformation(matrix, mean), rgb8)
	refusesInput(t, "want an image of 2 values", NewLinearTransformation(matrix, mean), rgb8.WithSize(1<<20, 1<<20))
	refusesInput(t, "want dtype", NewLinearTransformation(matrix, mean), tensor.Image(tensor.Int16, tensor.HWC, 1, 1, 2))
}

func ExampleLinearTransformation() {
	op := NewLinearTransformation([]float64{0, 1, 1, 0}, []float64{100, 50})
	fmt.Println(tensor.View[float32](exampleRun(op, exampleBytes(1, 1, 2, 103, 70))[0]))
	// Output: [20 3]
}
