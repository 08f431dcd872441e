package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestMask(t *testing.T) {
	for r, want := range [][]byte{{0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}} {
		y := applyOne(t, NewMask(Relation(r), 2), labels(false, 1, 2, 3))
		require.Equal(t, tensor.Desc{DType: tensor.Bool, Shape: tensor.Dims(3)}, y.Desc)
		require.Equal(t, want, y.Data, "%v", Relation(r))
	}
	nan := exampleFloats(1, 1, 1, float32(math.NaN()))
	for r, want := range []byte{0, 1, 0, 0, 0, 0} {
		require.Equal(t, []byte{want}, applyOne(t, NewMask(Relation(r), 2), nan).Data, "%v", Relation(r))
	}
	brain, err := tensor.New(tensor.Desc{DType: tensor.BFloat16, Shape: tensor.Dims(1)})
	require.NoError(t, err)
	tensor.View[uint16](brain)[0] = tensor.BFloat16FromFloat32(0.1)
	require.Equal(t, []byte{1}, applyOne(t, NewMask(RelationEQ, 0.1), brain).Data)
	refusesParam(t, "operator", &Mask{Operator: 6})
	refusesParam(t, "constant", NewMask(RelationEQ, math.NaN()))
	for _, v := range []float64{-1, 256, 2.5} {
		refusesInput(t, fmt.Sprint("cannot hold constant = ", v), NewMask(RelationLT, v), vector)
	}
	refusesInput(t, "fixed size", NewMask(RelationEQ, 0), tensor.Encoded())
}

func ExampleMask() {
	fmt.Println(exampleRun(NewMask(RelationGE, 2), labels(false, 1, 2, 3))[0].Data)
	// Output: [0 1 1]
}
