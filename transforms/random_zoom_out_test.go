package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomZoomOut(t *testing.T) {
	refusesParam(t, "probability", NewRandomZoomOut(2))
	op := NewRandomZoomOut(1)
	for _, r := range []Range{{2, 1}, {0.5, 1}, {1, 2000}} {
		op.Side = r
		refusesParam(t, "side", op)
	}
	op = NewRandomZoomOut(1)
	op.Fill = nil
	refusesParam(t, "fill", op)
	op.Fill = []float64{256}
	refusesInput(t, "cannot hold", op, rgb8)
	op.Fill = []float64{1}
	out, err := inferOne(op, rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, tensor.Unknown), out)
	out, err = inferOne(NewRandomZoomOut(0), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8, out)
	op.Side = Range{2, 2}
	pad := exampleDraw(op, 0)[0].(*Pad)
	require.Equal(t, []int{6, 8}, []int{pad.Top + pad.Bottom, pad.Left + pad.Right})
}

func ExampleRandomZoomOut() {
	op := NewRandomZoomOut(0.5)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// []
	// [{"op":"pad","version":1,"params":{"top":3,"bottom":4,"left":2,"right":8,"mode":"constant","fill":[0]}}]
}
