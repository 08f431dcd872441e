package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomSelectSubpolicy(t *testing.T) {
	refusesParam(t, "policies has 0 lists", NewRandomSelectSubpolicy())
	refusesParam(t, "policies[0] has 0 ops", NewRandomSelectSubpolicy().Policy(nil))
	refusesParam(t, "probabilities[0] has 0 values", NewRandomSelectSubpolicy().Policy(nil, NewInvert()))
	refusesParam(t, "probability 2", NewRandomSelectSubpolicy().Policy([]float64{2}, NewInvert()))
	refusesParam(t, "probabilities has 0 lists", &RandomSelectSubpolicy{Policies: []OpList{{NewInvert()}}})
	op := NewRandomSelectSubpolicy().Policy([]float64{0.5}, NewToTensor())
	refusesInput(t, "depending on the draw", op, rgb8)
	op = NewRandomSelectSubpolicy().Policy([]float64{0.5}, NewInvert()).Policy([]float64{1, 0.5}, NewResize(9, 5), NewInvert())
	d, err := inferOne(op, rgb8)
	require.NoError(t, err)
	require.Equal(t, rgb8.WithSize(tensor.Unknown, 5), d)
}

func ExampleRandomSelectSubpolicy() {
	op := NewRandomSelectSubpolicy().
		Policy([]float64{0.4, 0.6}, NewInvert(), NewAdjustContrast(1.5)).
		Policy([]float64{0.9}, NewVerticalFlip())
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"vertical_flip","version":1,"params":{}}]
	// [{"op":"adjust_contrast","version":1,"params":{"factor":1.5,"backend":"pillow"}}]
	// [{"op":"invert","version":1,"params":{}},{"op":"adjust_contrast","version":1,"params":{"factor":1.5,"backend":"pillow"}}]
}
