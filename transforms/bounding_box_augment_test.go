package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestBoundingBoxAugment(t *testing.T) {
	refusesParam(t, "ops has 0 ops", NewBoundingBoxAugment(CoordXYXY))
	refusesParam(t, "format is xy", NewBoundingBoxAugment(CoordXY, NewInvert()))
	op := NewBoundingBoxAugment(CoordXYXY, NewInvert())
	op.Probability = 2
	refusesParam(t, "probability", op)
	op.Probability = 1
	img := tensor.Image(tensor.Uint8, tensor.HWC, 80, 100, 3)
	for _, b := range [][]float32{{-1, 0, 5, 5}, {0, 0, 101, 5}, {3, 3, 3, 9}, {0, 79, 4, 81}} {
		x := floats(b, 1, 4)
		_, err := NewDraw(newContext()).Run(op, rng.NewKey(7, 1, "").At(0), []tensor.Desc{img, x.Desc}, []*tensor.Tensor{nil, x})
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, "box 0")
	}
	// Other formats give the same windows.
	for f, b := range map[CoordFormat][]float32{CoordXYXY: {10, 20, 60, 70}, CoordLTWH: {10, 20, 50, 50}, CoordCXCYWH: {35, 45, 50, 50}} {
		op.Format = f
		require.Equal(t, OpList{NewMapWindow(20, 10, 50, 50, NewInvert())}, OpList(drawObjects(op, 0, b...)))
	}
	// Random ops are drawn for each box. Without a flip there is no window.
	op = NewBoundingBoxAugment(CoordXYXY, NewRandomHorizontalFlip())
	op.Probability = 1
	counts := [3]int{}
	for sample := range uint64(200) {
		counts[len(drawObjects(op, sample, 10, 20, 60, 70, 1, 2, 30, 40))]++
	}
	require.InDelta(t, 100, counts[1], 35)
	require.InDelta(t, 50, counts[2], 30)
}

func TestMapWindow(t *testing.T) {
	refusesParam(t, "row -1", NewMapWindow(-1, 0, 2, 2, NewInvert()))
	refusesParam(t, "ops[0] is random_horizontal_flip", NewMapWindow(0, 0, 2, 2, NewRandomHorizontalFlip()))
	refusesInput(t, "want one within", NewMapWindow(0, rgb8.Width(), 1, 1, NewInvert()), rgb8)
	refusesInput(t, "want its dtype", NewMapWindow(0, 0, 1, 1, NewToTensor()), rgb8)
}

func ExampleMapWindow() {
	out, _ := run(newContext(), NewMapWindow(0, 1, 1, 2, NewInvert()), exampleBytes(1, 4, 1, 1, 2, 3, 4))
	fmt.Println(out[0].Data)
	// Output: [1 253 252 4]
}

func ExampleBoundingBoxAugment() {
	op := NewBoundingBoxAugment(CoordXYXY, NewInvert())
	op.Probability = 1
	fmt.Println(OpList(drawObjects(op, 0, 10, 20, 60, 70)))
	// Output: [{"op":"map_window","version":1,"params":{"top":20,"left":10,"height":50,"width":50,"ops":[{"op":"invert","version":1,"params":{}}]}}]
}
