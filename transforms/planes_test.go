package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestResizeToIsResize checks that an image is scaled as by Resize, with every
// kernel.
func TestResizeToIsResize(t *testing.T) {
	for b := Pillow; b <= TorchUint8; b++ {
		for _, anti := range []bool{true, false} {
			for i := Nearest; i <= PILCubic; i++ {
				op := &ResizeTo{Interpolation: i, Backend: b, NoAntialias: !anti}
				same := NewResize(9, 14)
				same.Interpolation, same.Backend, same.NoAntialias = i, b, !anti
				require.Equal(t, op.Validate(), same.Validate())
				if op.Validate() != nil {
					continue
				}
				for _, d := range []tensor.DType{tensor.Uint8, tensor.Float32} {
					for _, l := range []tensor.Layout{tensor.HWC, tensor.CHW} {
						x := randomImage(t, d, l, 11, 7, 3)
						got, err := run(newContext(), op, x, ints(9, 14))
						require.NoError(t, err)
						requireEqual(t, []*tensor.Tensor{applyOne(t, same, x)}, got, fmt.Sprint(op, d, l))
					}
				}
			}
		}
	}
}

func TestPlanesInputs(t *testing.T) {
	image := randomImage(t, tensor.Float32, tensor.CHW, 4, 5, 3)
	logits := floats(make([]float32, 24), 2, 3, 4)
	refusesParam(t, "area", &ResizeTo{Interpolation: Area, Backend: Pillow})
	refusesRun(t, "size is 0 x 3", NewResizeTo(), image, ints(0, 3))
	refusesRun(t, "want sides of 1 to", NewResizeTo(), image, ints(3, maxSide+1))
	refusesRun(t, "size is float32 (2,)", NewResizeTo(), image, floats([]float32{1, 2}, 2))
	refusesRun(t, "want dtype", NewResizeTo(), array(tensor.Int32, make([]int32, 4), 2, 2), ints(1, 1))
	refusesRun(t, "last two axes", NewResizeTo(), floats(make([]float32, 4), 4), ints(1, 1))
	refusesRun(t, "want sides", NewResizeTo(), floats(nil, 4, 0, 3), ints(1, 1))
	huge := floats(make([]float32, 1), 1, 1)
	_, err := run(newContext(), NewResizeTo(), huge, ints(maxSide, maxSide))
	require.Error(t, err)

	refusesRun(t, "want at most that of the image, 3 x 4", NewCropToSize(), logits, ints(4, 4))
	refusesRun(t, "want less than the image", NewCropPadding(), logits, ints(1, 2, 0, 0))
	refusesRun(t, "pad[2] is -1", NewCropPadding(), logits, ints(1, 1, -1, 0))
	refusesRun(t, "want top, bottom, left and right", NewCropPadding(), logits, ints(1, 1))

	refusesParam(t, "dtype", &Threshold{DType: tensor.Float32})
	refusesParam(t, "value", NewThreshold(math.NaN()))
	refusesInput(t, "want float32", NewThreshold(0), vector)
	refusesParam(t, "axis", NewArgmax(-1))
	refusesParam(t, "axis", NewArgmax(8))
	refusesInput(t, "along axis 1", NewArgmax(1), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(4)})
	refusesInput(t, "along axis 0", NewArgmax(0), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(0, 4)})

	masks := array(tensor.Uint8, make([]uint8, 12), 3, 2, 2)
	refusesRun(t, "3 masks and 2 boxes", NewMaskBoxes(), masks, floats(make([]float32, 8), 2, 4))
	refusesRun(t, "want (n, 4)", NewMaskBoxes(), masks, floats(make([]float32, 4), 4))
	refusesRun(t, "want uint8 or bool", NewMaskBoxes(), logits, floats(make([]float32, 8), 2, 4))
}

// TestMaskBoxesHuge checks that boxes beyond every integer are clipped.
func TestMaskBoxesHuge(t *testing.T) {
	m := array(tensor.Uint8, []uint8{1, 1, 1, 1}, 1, 2, 2)
	out, err := run(newContext(), NewMaskBoxes(), m, floats([]float32{-3e38, 1, 3e38, 3e38}, 1, 4))
	require.NoError(t, err)
	require.Equal(t, []uint8{0, 0, 1, 1}, out[0].Data)
}

// Scale a mask to the size of the image.
func ExampleResizeTo() {
	mask := floats([]float32{-1, 1, -1, 1}, 2, 2)
	show(exampleRun(NewResizeTo(), mask, ints(2, 4))[0])
	// Output:
	// [-1 -0.5 0.5 1 -1 -0.5 0.5 1]
}

func ExampleCropToSize() {
	mask := floats([]float32{1, 2, 0, 3, 4, 0, 0, 0, 0}, 3, 3)
	show(exampleRun(NewCropToSize(), mask, ints(2, 2))[0])
	// Output:
	// [1 2 3 4]
}

func ExampleCropPadding() {
	mask := floats([]float32{0, 1, 2, 0, 0, 3, 4, 0}, 2, 4)
	show(exampleRun(NewCropPadding(), mask, ints(0, 0, 1, 1))[0])
	// Output:
	// [1 2 3 4]
}

func ExampleThreshold() {
	out := exampleRun(NewThreshold(0), floats([]float32{-1, 0, 0.5}, 3))
	fmt.Println(out[0].Desc, out[0].Data)
	// Output:
	// bool (3,) [0 0 1]
}

// The class of each of two pixels.
func ExampleArgmax() {
	logits := floats([]float32{0.1, 3, 0.7, -2}, 2, 1, 2)
	out := exampleRun(NewArgmax(0), logits)
	fmt.Println(out[0].Desc, tensor.View[int64](out[0]))
	// Output:
	// int64 (1, 2) [1 0]
}

func ExampleMaskBoxes() {
	mask := array(tensor.Uint8, []uint8{1, 1, 1, 1, 1, 1}, 1, 2, 3)
	out := exampleRun(NewMaskBoxes(), mask, floats([]float32{1, 0, 3, 1}, 1, 4))
	fmt.Println(out[0].Data)
	// Output:
	// [0 1 1 0 0 0]
}
