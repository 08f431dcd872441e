package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomResize(t *testing.T) {
	refusesParam(t, "min_size", NewRandomResize(0, 5))
	refusesParam(t, "max_size", NewRandomResize(1, maxSide+1))
	refusesParam(t, "want more than min_size", NewRandomResize(5, 5))
	op := NewRandomResize(5, 6)
	require.Equal(t, OpList{NewResizeShortest(5)}, exampleDraw(op, 0))
	op.Interpolation = Area
	refusesParam(t, "interpolation area", op)
	refusesInput(t, "want an image", NewRandomResize(5, 6), vector)
}

func ExampleRandomResize() {
	op := NewRandomResize(3, 100)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"resize","version":1,"params":{"fit":"shortest","height":0,"width":0,"edge":51,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
	// [{"op":"resize","version":1,"params":{"fit":"shortest","height":0,"width":0,"edge":10,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
}
