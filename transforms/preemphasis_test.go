package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPreemphasis(t *testing.T) {
	refusesParam(t, "coefficient", NewPreemphasis(math.NaN()))
	refusesInput(t, "want float32", NewPreemphasis(1), vector)
	refusesInput(t, "want float32", NewPreemphasis(1), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(1, 2, 3)})
	require.Empty(t, tensor.View[float32](applyOne(t, NewPreemphasis(1), waveform())))
}

func ExamplePreemphasis() {
	out := exampleRun(NewPreemphasis(0.5), waveform(4, 2, 2, 8))
	fmt.Println(tensor.View[float32](out[0]))
	// Output: [4 0 1 7]
}
