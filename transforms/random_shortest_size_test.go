package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomShortestSize(t *testing.T) {
	refusesParam(t, "sizes has 0 values", NewRandomShortestSize(5))
	refusesParam(t, "sizes has 1025 values", NewRandomShortestSize(5, make([]int, 1025)...))
	refusesParam(t, "a size is 0", NewRandomShortestSize(5, 3, 0))
	refusesParam(t, "max_size", NewRandomShortestSize(-1, 3))
	op := NewRandomShortestSize(100, 3)
	require.Equal(t, OpList{NewResize(3, 4)}, exampleDraw(op, 0))
	op.MaxSize = 3
	require.Equal(t, OpList{NewResize(2, 3)}, exampleDraw(op, 0), "6 x 8 times 3/8")
	op.Interpolation = Area
	refusesParam(t, "interpolation area", op)
	refusesInput(t, "want an image", NewRandomShortestSize(5, 6), vector)

	d := NewDraw(newContext())
	_, err := d.Run(NewRandomShortestSize(5, 5), rng.NewKey(1, 2, "").At(0), []tensor.Desc{rgb8.WithSize(1, 100)}, nil)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "would become 0 x 5")
}

func ExampleRandomShortestSize() {
	op := NewRandomShortestSize(10, 3, 100)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"resize","version":1,"params":{"fit":"exact","height":7,"width":10,"edge":0,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
	// [{"op":"resize","version":1,"params":{"fit":"exact","height":3,"width":4,"edge":0,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
}
