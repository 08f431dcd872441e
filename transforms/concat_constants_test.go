package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestConcatConstants(t *testing.T) {
	require.Equal(t, []int32{10, 20, 1, 2, 3, 100}, tensor.View[int32](applyOne(t, NewConcatConstants([]float64{10, 20}, []float64{100}), labels(false, 1, 2, 3))))
	require.Equal(t, []int32{5, 6}, tensor.View[int32](applyOne(t, NewConcatConstants([]float64{5}, []float64{6}), labels(false))))
	last := &ConcatConstants{Axis: -1, Append: NumberList{9, 8}}
	require.Equal(t, []byte{1, 9, 8, 2, 9, 8}, applyOne(t, last, exampleBytes(1, 2, 1, 1, 2)).Data)
	// A view may have any stride along an axis of one element.
	x := exampleBytes(1, 2, 1, 1, 2)
	x.Strides[0] = 77
	require.Equal(t, []byte{0, 0, 1, 2}, applyOne(t, NewConcatConstants([]float64{0}, nil), x).Data)
	var out [1]tensor.Desc
	require.NoError(t, NewConcatConstants([]float64{1}, nil).Infer(out[:], []tensor.Desc{{DType: tensor.Int8, Shape: tensor.Dims(tensor.Unknown, 2)}}))
	require.Equal(t, tensor.Dims(tensor.Unknown, 2), out[0].Shape)
	refusesParam(t, "axis is 8", &ConcatConstants{Axis: 8})
	refusesParam(t, "axis is -9", &ConcatConstants{Axis: -9})
	refusesParam(t, "prepend[1]", NewConcatConstants([]float64{0, math.Inf(1)}, nil))
	refusesParam(t, "append[0]", NewConcatConstants(nil, []float64{math.NaN()}))
	refusesInput(t, "has no axis 1", &ConcatConstants{Axis: 1}, vector)
	refusesInput(t, "has no axis -2", &ConcatConstants{Axis: -2}, vector)
	refusesInput(t, "has no axis 0", NewConcatConstants(nil, nil), tensor.Desc{DType: tensor.Uint8})
	refusesInput(t, "cannot hold append[1] = 256", NewConcatConstants(nil, []float64{0, 256}), vector)
	refusesInput(t, "fixed size", NewConcatConstants(nil, nil), tensor.Encoded())
}

func ExampleConcatConstants() {
	// A start token and an end token.
	op := NewConcatConstants([]float64{101}, []float64{102})
	fmt.Println(tensor.View[int32](exampleRun(op, labels(false, 7, 8))[0]))
	// Output: [101 7 8 102]
}
