package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestColorMatrix(t *testing.T) {
	x := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 2, 3, 1, 2, 3, 4, 5, 6)
	swap := NewColorMatrix([9]float32{0, 0, 1, 0, 1, 0, 1, 0, 0})
	require.Equal(t, []float32{3, 2, 1, 6, 5, 4}, tensor.View[float32](applyOne(t, swap, x)))

	bad := NewColorMatrix(grayMatrix)
	bad.Matrix[4] = float32(math.NaN())
	refusesParam(t, "matrix[4]", bad)
	refusesInput(t, "want dtype", swap, rgb8)
	refusesInput(t, "want [3] channels", swap, rgb32.WithChannels(4))
	var m ColorWeights
	require.ErrorIs(t, json.Unmarshal([]byte("[1,2]"), &m), ErrParam)
}

func ExampleColorMatrix() {
	x, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 1, 1, 3))
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float32](x), []float32{100, 50, 10})
	gray := NewColorMatrix([9]float32{0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25})
	fmt.Println(tensor.View[float32](exampleRun(gray, x)[0]))
	// Output: [52.5 52.5 52.5]
}
