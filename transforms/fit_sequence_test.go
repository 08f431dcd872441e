package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestFitSequence(t *testing.T) {
	for field, o := range map[string]*FitSequence{
		"max":        {Max: -1, Multiple: 1},
		"length":     {Length: maxSide + 1, Multiple: 1},
		"multiple":   {},
		"without":    {Chunk: 3, Multiple: 1},
		"the stride": {Chunk: 3, Stride: 4, Multiple: 1},
		"at most":    {Max: 3, Length: 4, Multiple: 1},
		"left":       {Left: -1, Multiple: 1},
		"mode":       {Mode: 9, Multiple: 1},
		"at_start":   {Mode: FitRepeat, AtStart: true, Multiple: 1},
		"fill":       {Fill: 1e300, Multiple: 1},
	} {
		refusesParam(t, field, o)
	}
	refuses := func(want string, o *FitSequence, d tensor.Desc) {
		var out [2]tensor.Desc
		err := o.Infer(out[:], []tensor.Desc{d})
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
	refuses("want a sequence", NewFitSequence(9), rgb8)
	refuses("cannot hold fill", &FitSequence{Multiple: 1, Fill: -1}, vector)
	refuses("at most 3 rows", &FitSequence{Max: 3, Multiple: 1}, vector)
	refuses("want one or more", &FitSequence{Length: 3, Multiple: 1, Mode: FitReflect}, soundOf(0))
	refuses("at most", NewFitSequence(9), soundOf(1<<30))
	for _, c := range []struct {
		o       FitSequence
		n, want int
	}{
		{FitSequence{Multiple: 1}, 5, 5},
		{FitSequence{Multiple: 4}, 5, 8},
		{FitSequence{Max: 4, Cut: true, Multiple: 1}, 5, 4},
		{FitSequence{Length: 9, Multiple: 1, Left: 1, Right: 2}, 5, 12},
		{FitSequence{Chunk: 4, Stride: 3, Multiple: 1}, 5, 7},
		{FitSequence{Chunk: 4, Stride: 3, Multiple: 1}, 0, 1},
		{FitSequence{Max: 9, Cut: true, Length: 9, Multiple: 2}, tensor.Unknown, 10},
		{FitSequence{Multiple: 2}, tensor.Unknown, tensor.Unknown},
	} {
		var out [2]tensor.Desc
		require.NoError(t, c.o.Infer(out[:], []tensor.Desc{soundOf(c.n)}))
		require.Equal(t, [2]tensor.Desc{soundOf(c.want), {DType: tensor.Int32, Shape: tensor.Dims(c.want)}}, out, "%+v", c)
	}
}

func ExampleFitSequence() {
	o := NewFitSequence(5)
	o.Fill = -1
	out := exampleRun(o, labels(false, 7, 8, 9))
	fmt.Println(tensor.View[int32](out[0]), tensor.View[int32](out[1]))
	// Output: [7 8 9 -1 -1] [1 1 1 0 0]
}
