package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomApply(t *testing.T) {
	refusesParam(t, "ops has 0 ops", NewRandomApply(0.5))
	refusesParam(t, "ops[1] is nil", NewRandomApply(0.5, NewInvert(), nil))
	refusesParam(t, "ops[0], pad: invalid parameter: top", NewRandomApply(0.5, NewPad(-1, 0, 0, 0)))
	refusesParam(t, "want one of each", NewRandomApply(0.5, NewLetterbox(5, 5)))
	refusesInput(t, "depending on the draw", NewRandomApply(0.5, NewToTensor()), rgb8)
	d, err := inferOne(NewRandomApply(0.5, NewResize(9, 5)), rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, 5), d, "4 or 9 rows")
}

func ExampleRandomApply() {
	op := NewRandomApply(0.5, NewInvert(), NewRandomVerticalFlip())
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// []
	// [{"op":"invert","version":1,"params":{}},{"op":"vertical_flip","version":1,"params":{}}]
	// [{"op":"invert","version":1,"params":{}},{"op":"vertical_flip","version":1,"params":{}}]
}
