package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestScaleJitter(t *testing.T) {
	refusesParam(t, "height", NewScaleJitter(0, 5))
	op := NewScaleJitter(12, 100)
	for _, r := range []Range{{2, 1}, {0, 1}, {1, 2000}} {
		op.Scale = r
		refusesParam(t, "scale", op)
	}
	op.Scale = Range{1, 1}
	require.Equal(t, OpList{NewResize(12, 16)}, exampleDraw(op, 0))
	op.Interpolation = Area
	refusesParam(t, "interpolation area", op)
	refusesInput(t, "want an image", NewScaleJitter(5, 6), vector)

	d := NewDraw(newContext())
	for _, box := range []int{1, maxSide} {
		op = NewScaleJitter(box, box)
		op.Scale = Range{0.9, 1000}
		if box == 1 {
			op.Scale = Range{0.5, 0.5}
		}
		_, err := d.Run(op, rng.NewKey(1, 2, "").At(0), []tensor.Desc{rgb8.WithSize(1, 100)}, nil)
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, "would become")
	}
}

func ExampleScaleJitter() {
	op := NewScaleJitter(100, 100)
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"resize","version":1,"params":{"fit":"exact","height":79,"width":105,"edge":0,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
	// [{"op":"resize","version":1,"params":{"fit":"exact","height":18,"width":24,"edge":0,"max_edge":0,"multiple":0,"keep_aspect":false,"size_rule":"truncate","interpolation":"bilinear","backend":"pillow","no_antialias":false}}]
}
