package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomResizedCrop(t *testing.T) {
	refusesParam(t, "height", NewRandomResizedCrop(0, 1))
	op := NewRandomResizedCrop(4, 4)
	for _, r := range []Range{{-0.1, 1}, {1, 0.5}, {0, 101}, {math.NaN(), 1}} {
		op.Scale = r
		refusesParam(t, "scale", op)
	}
	op = NewRandomResizedCrop(4, 4)
	for _, r := range []Range{{0, 1}, {2, 1}, {1, math.Inf(1)}} {
		op.Ratio = r
		refusesParam(t, "ratio", op)
	}
	op = NewRandomResizedCrop(4, 4)
	op.Backend, op.Interpolation = OpenCV, Hamming
	require.ErrorIs(t, op.Validate(), ErrParam)
	refusesInput(t, "want an image", NewRandomResizedCrop(4, 4), vector)

	// A scale beyond the image never fits: the box is centred.
	op = NewRandomResizedCrop(4, 4)
	op.Scale, op.Ratio = Range{50, 100}, Range{1, 1}
	require.Equal(t, OpList{NewResizedCrop(0, 1, 6, 6, 4, 4)}, exampleDraw(op, 0))
	op.Ratio = Range{2, 3}
	require.Equal(t, OpList{NewResizedCrop(1, 0, 4, 8, 4, 4)}, exampleDraw(op, 0))
	op.Ratio = Range{1, 2}
	require.Equal(t, OpList{NewResizedCrop(0, 0, 6, 8, 4, 4)}, exampleDraw(op, 0))
}

func ExampleRandomResizedCrop() {
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(NewRandomResizedCrop(224, 224), sample))
	}
	// Output:
	// [{"op":"resized_crop","version":1,"params":{"top":0,"left":1,"height":5,"width":5,"out_height":224,"out_width":224,"interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
	// [{"op":"resized_crop","version":1,"params":{"top":1,"left":3,"height":3,"width":3,"out_height":224,"out_width":224,"interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
}
