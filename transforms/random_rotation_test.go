package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomRotation(t *testing.T) {
	op := NewRandomRotation(10)
	for _, r := range []Range{{2, 1}, {math.NaN(), 1}, {0, 2e6}} {
		op.Degrees = r
		refusesParam(t, "degrees", op)
	}
	op = NewRandomRotation(10)
	op.Interpolation = Lanczos
	refusesParam(t, "interpolation", op)
	op = NewRandomRotation(10)
	refusesInput(t, "want dtype", op, rgb32)
	out, err := inferOne(op, rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8, out)
	op.Expand = true
	out, err = inferOne(op, rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, tensor.Unknown), out)
	op.Degrees = Range{90, 90}
	out, err = inferOne(op, rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(rgb8.Width(), rgb8.Height()), out)
}

func ExampleRandomRotation() {
	op := NewRandomRotation(30)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"rotate","version":1,"params":{"angle":0.1196883620140774,"interpolation":"nearest","backend":"pillow","expand":false,"center":[],"fill":[0]}}]
	// [{"op":"rotate","version":1,"params":{"angle":-25.335960139614606,"interpolation":"nearest","backend":"pillow","expand":false,"center":[],"fill":[0]}}]
}
