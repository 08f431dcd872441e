package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomCrop(t *testing.T) {
	refusesParam(t, "height", NewRandomCrop(0, 1, 0))
	refusesParam(t, "top", NewRandomCrop(1, 1, -1))
	refusesParam(t, "mode", &RandomCrop{Height: 1, Width: 1, Mode: 9, Fill: []float64{0}})
	refusesInput(t, "want at least 9 x 5", NewRandomCrop(9, 5, 2), rgb8)
	refusesInput(t, "cannot hold fill[0]", &RandomCrop{Height: 1, Width: 1, Fill: []float64{-1}}, rgb8)
	require.Empty(t, exampleDraw(NewRandomCrop(6, 8, 0), 0))
	op := NewRandomCrop(20, 10, 1)
	op.PadIfNeeded, op.Mode = true, PadReflect
	ops := exampleDraw(op, 0)
	require.Equal(t, &Pad{13, 13, 1, 1, PadReflect, []float64{0}}, ops[0], "all that is missing, on both sides")
	require.Len(t, ops, 2)
}

func ExampleRandomCrop() {
	fmt.Println(exampleDraw(NewRandomCrop(6, 8, 1), 0))
	// Output: [{"op":"pad","version":1,"params":{"top":1,"bottom":1,"left":1,"right":1,"mode":"constant","fill":[0]}},{"op":"crop","version":1,"params":{"top":1,"left":1,"height":6,"width":8}}]
}
