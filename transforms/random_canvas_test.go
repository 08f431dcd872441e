package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomCanvas(t *testing.T) {
	refusesParam(t, "probability", NewRandomCanvas(2))
	op := NewRandomCanvas(1)
	op.Ratio = Range{2, 1}
	refusesParam(t, "ratio", op)
	op = NewRandomCanvas(1)
	op.Area = Range{0.5, 1}
	refusesParam(t, "area", op)
	op = NewRandomCanvas(1)
	op.Trials = 1001
	refusesParam(t, "trials", op)
	op.Trials, op.Fill = 1, []float64{256}
	refusesInput(t, "cannot hold", op, rgb8)
	op.Fill = []float64{1}
	out, err := inferOne(op, rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, tensor.Unknown), out)
	out, err = inferOne(NewRandomCanvas(0), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8, out)
}

func ExampleRandomCanvas() {
	op := NewRandomCanvas(0.5)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// []
	// [{"op":"pad","version":1,"params":{"top":6,"bottom":0,"left":0,"right":5,"mode":"constant","fill":[128]}}]
}
