package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomIoUCrop(t *testing.T) {
	op := NewRandomIoUCrop(CoordXY)
	refusesParam(t, "format is xy", op)
	op = NewRandomIoUCrop(CoordXYXY)
	op.Options = nil
	refusesParam(t, "options has 0 numbers", op)
	op.Options = []float64{-1}
	refusesParam(t, "options[0]", op)
	op = NewRandomIoUCrop(CoordXYXY)
	op.Trials = 0
	refusesParam(t, "trials", op)
	op.Trials, op.Scale = 1, Range{0, 2}
	refusesParam(t, "scale", op)
}

// drawObjects draws once for an image of 80 x 100 pixels with boxes.
func drawObjects(op Random, sample uint64, boxes ...float32) []Op {
	x := floats(boxes, len(boxes)/4, 4)
	d := NewDraw(newContext())
	img := tensor.Image(tensor.Uint8, tensor.HWC, 80, 100, 3)
	ops, err := d.Run(op, rng.NewKey(7, 1, "image").At(sample), []tensor.Desc{img, x.Desc}, []*tensor.Tensor{nil, x})
	if err != nil {
		panic(err)
	}
	return ops
}

// TestObjectCropsWithoutBoxes: no box is in any window, so the image stays even
// if no option says so.
func TestObjectCropsWithoutBoxes(t *testing.T) {
	iou := NewRandomIoUCrop(CoordXYXY)
	iou.Options = []float64{0}
	for sample := range uint64(3) {
		for _, op := range []Random{iou, NewRandomObjectCrop(CoordXYXY)} {
			require.Empty(t, drawObjects(op, sample))
			require.Empty(t, drawObjects(op, sample, 200, 200, 300, 300))
		}
	}
}

func ExampleRandomIoUCrop() {
	op := NewRandomIoUCrop(CoordXYXY)
	for sample := range uint64(2) {
		fmt.Println(OpList(drawObjects(op, sample, 10, 20, 60, 70)))
	}
	// Output:
	// [{"op":"object_crop","version":1,"params":{"top":12,"left":15,"height":58,"width":46,"keep":"center","coverage":0}}]
	// [{"op":"object_crop","version":1,"params":{"top":18,"left":4,"height":44,"width":78,"keep":"center","coverage":0}}]
}
