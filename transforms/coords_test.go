package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// array returns a tensor of the values without layout.
func array[T tensor.Elem](d tensor.DType, values []T, dims ...int) *tensor.Tensor {
	t, err := tensor.New(tensor.Desc{DType: d, Shape: tensor.Dims(dims...)})
	if err != nil {
		panic(err)
	}
	copy(tensor.View[T](t), values)
	return t
}

func floats(values []float32, dims ...int) *tensor.Tensor {
	return array(tensor.Float32, values, dims...)
}

func ints(values ...int64) *tensor.Tensor { return array(tensor.Int64, values, len(values)) }

// refusesRun expects an error of kind ErrInput from the data of the inputs.
func refusesRun(t *testing.T, word string, op Op, src ...*tensor.Tensor) {
	t.Helper()
	_, err := run(newContext(), op, src...)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, word)
}

// TestCoords undoes a letterbox by hand: 480 x 640 in 640 x 640 has bars of 80
// rows.
func TestCoords(t *testing.T) {
	boxes := floats([]float32{10, 90, 30, 120, 0.5, -5, 0, 700, 700, 0.25}, 2, 5)
	out, err := run(newContext(), NewLetterboxGeometry(), ints(640, 640), ints(480, 640))
	require.NoError(t, err)
	require.Equal(t, []float32{1, 1}, tensor.View[float32](out[0]))
	require.Equal(t, []int32{80, 80, 0, 0}, tensor.View[int32](out[1]))
	moved, err := run(newContext(), &ShiftCoords{Format: CoordXYXY, Subtract: true}, boxes, out[1])
	require.NoError(t, err)
	require.Equal(t, []float32{10, 10, 30, 40, 0.5, -5, -80, 700, 620, 0.25}, tensor.View[float32](moved[0]))
	scaled, err := run(newContext(), &ScaleCoords{Format: CoordXYXY, Divide: true}, moved[0], out[0])
	require.NoError(t, err)
	clipped, err := run(newContext(), NewClampCoordsToSize(CoordXYXY), scaled[0], ints(480, 640))
	require.NoError(t, err)
	require.Equal(t, []float32{10, 10, 30, 40, 0.5, 0, 0, 640, 480, 0.25}, tensor.View[float32](clipped[0]))
}

// TestLetterboxGeometryAgrees checks the padding against that of Letterbox, and
// the scale against its rounded sides.
func TestLetterboxGeometryAgrees(t *testing.T) {
	for h := 1; h < 400; h += 7 {
		for w := 1; w < 900; w += 13 {
			b, err := NewLetterbox(96, 160).fit(h, w)
			require.NoError(t, err)
			out, err := run(newContext(), NewLetterboxGeometry(), ints(96, 160), ints(int64(h), int64(w)))
			require.NoError(t, err)
			require.Equal(t, []int32{int32(b.top), int32(b.bottom), int32(b.left), int32(b.right)}, tensor.View[int32](out[1]), "%d x %d", h, w)
			require.Equal(t, []float32{float32(float64(b.h) / float64(h)), float32(float64(b.w) / float64(w))}, tensor.View[float32](out[0]))
		}
	}
}

func TestCoordsParameters(t *testing.T) {
	refusesParam(t, "from is xy", NewConvertBoxes(CoordXY, CoordXYXY))
	refusesParam(t, "to is xy", NewConvertBoxes(CoordLTWH, CoordXY))
	refusesParam(t, "both xyxy", NewConvertBoxes(CoordXYXY, CoordXYXY))
	refusesParam(t, "from", NewConvertBoxes(9, CoordXYXY))
	refusesParam(t, "format", NewScaleCoords(9))
	refusesParam(t, "format", NewShiftCoords(9))
	refusesParam(t, "want xyxy or xy", NewClampCoordsToSize(CoordCXCYWH))
}

func TestCoordsInputs(t *testing.T) {
	boxes := floats(make([]float32, 12), 3, 4)
	refusesInput(t, "want float32", NewConvertBoxes(CoordXYXY, CoordLTWH), vector)
	refusesInput(t, "at least 4 values", NewConvertBoxes(CoordXYXY, CoordLTWH), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(5, 3)})
	refusesInput(t, "want float32", NewConvertBoxes(CoordXYXY, CoordLTWH), tensor.Desc{DType: tensor.Float32})
	scale := NewScaleCoords(CoordXYXY)
	refusesRun(t, "scale is int64 (4,), want 2 values", scale, boxes, ints(1, 2, 3, 4))
	refusesRun(t, "offset is int64 (3,), want 2 or 4 values", NewShiftCoords(CoordXYXY), boxes, ints(1, 2, 3))
	refusesRun(t, "of int32, int64 or float32", scale, boxes, array(tensor.Uint8, []uint8{1, 2}, 2))
	refusesRun(t, "scale has 2 rows, want one for each of the 3", scale, boxes, array(tensor.Int64, []int64{1, 2, 3, 4}, 2, 2))
	refusesRun(t, "no axis for its rows", scale, floats(make([]float32, 4), 4), array(tensor.Int64, []int64{1, 2}, 1, 2))
	refusesRun(t, "scale[1] is 1.6777217e+07", scale, boxes, ints(1, maxSide+1))
	refusesRun(t, "other than 0", &ScaleCoords{Format: CoordXYXY, Divide: true}, boxes, ints(1, 0))
	refusesRun(t, "want at least 0", NewClampCoordsToSize(CoordXYXY), boxes, ints(-1, 5))
	refusesRun(t, "original_size is 0 x 5", NewLetterboxGeometry(), ints(1, 1), ints(0, 5))
	refusesRun(t, "want height and width", NewLetterboxGeometry(), ints(1, 1, 1), ints(1, 5))
}

func show(t *tensor.Tensor) { fmt.Println(tensor.View[float32](t)) }

// The boxes of DETR are fractions of the image's sides.
func ExampleConvertBoxes() {
	out := exampleRun(NewConvertBoxes(CoordCXCYWH, CoordXYXY), floats([]float32{0.5, 0.5, 0.25, 1}, 1, 4))
	show(out[0])
	// Output:
	// [0.375 0 0.625 1]
}

func ExampleScaleCoords() {
	size := ints(480, 640) // the side output original_sizes, or image_size
	out := exampleRun(NewScaleCoords(CoordXYXY), floats([]float32{0.375, 0, 0.625, 1}, 1, 4), size)
	show(out[0])
	// Output:
	// [240 0 400 480]
}

// Move the boxes of two tiles to the tiles' places.
func ExampleShiftCoords() {
	boxes := floats([]float32{1, 2, 3, 4, 1, 2, 3, 4}, 2, 1, 4)
	origins := array(tensor.Int64, []int64{0, 0, 0, 512}, 2, 2) // row and column of each tile
	show(exampleRun(NewShiftCoords(CoordXYXY), boxes, origins)[0])
	// Output:
	// [1 2 3 4 513 2 515 4]
}

func ExampleClampCoordsToSize() {
	show(exampleRun(NewClampCoordsToSize(CoordXYXY), floats([]float32{-3, 5, 700, 400}, 1, 4), ints(480, 640))[0])
	// Output:
	// [0 5 640 400]
}

func ExampleLetterboxGeometry() {
	out := exampleRun(NewLetterboxGeometry(), ints(640, 640), ints(100, 300))
	show(out[0])
	fmt.Println(tensor.View[int32](out[1]))
	// Output:
	// [2.13 2.1333334]
	// [213 214 0 0]
}
