package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestBoxOpsParameters(t *testing.T) {
	refusesParam(t, "format", NewCropCoords(99, 0, 0, 1, 1))
	refusesParam(t, "clamping", &CropCoords{Format: CoordXYXY, Height: 1, Width: 1, Clamping: 9})
	refusesParam(t, "left is 16777217", NewCropCoords(CoordXYXY, 0, maxSide+1, 1, 1))
	refusesParam(t, "height is 0", NewCropCoords(CoordXYXY, 0, 0, 0, 1))
	refusesParam(t, "format", NewClampCoords(99, 1, 1))
	refusesParam(t, "width is 0", NewClampCoords(CoordXYXY, 1, 0))
	refusesParam(t, "format", NewFlipCoords(99, false, 1))
	refusesParam(t, "size is 0", NewFlipCoords(CoordXYXY, false, 0))
	refusesParam(t, "format", NewResizeCoords(99, 1, 1, 1, 1))
	refusesParam(t, "to_width is 0", NewResizeCoords(CoordXYXY, 1, 1, 1, 0))
	refusesParam(t, "format is xy", NewValidBoxes(CoordXY, 1, 1))
	refusesParam(t, "format", NewValidBoxes(99, 1, 1))
	refusesParam(t, "height is 0", NewValidBoxes(CoordXYXY, 0, 1))
	refusesParam(t, "min_size", &ValidBoxes{Format: CoordXYXY, Height: 1, Width: 1, MinSize: math.NaN()})
	refusesParam(t, "min_area", &ValidBoxes{Format: CoordXYXY, Height: 1, Width: 1, MinArea: math.Inf(1)})
	refusesParam(t, "width is 0", NewValidKeypoints(1, 0))
	refusesParam(t, "format", NewElasticNoiseCoords(99, 0, 224, 224))
	refusesParam(t, "width is 0", NewElasticNoiseCoords(CoordXYXY, 0, 224, 0))
	refusesParam(t, "want more than 20", NewElasticNoiseCoords(CoordXYXY, 0, 20, 224))
	refusesParam(t, "alpha_x", &ElasticNoiseCoords{Height: 1, Width: 1, AlphaX: 1e7})
	refusesParam(t, "matrix[2] is 1e+39", NewAffineCoords(CoordXYXY, [6]float64{1, 0, 1e39}, 1, 1))
	refusesParam(t, "shift[1] is NaN", &AffineCoords{Format: CoordXYXY, Height: 1, Width: 1, ShiftY: math.NaN()})
	refusesParam(t, "height is 0", NewAffineCoords(CoordXYXY, [6]float64{}, 0, 1))
	refusesParam(t, "format", NewAffineCoords(99, [6]float64{}, 1, 1))
	refusesParam(t, "coefficients[7] is +Inf", NewPerspectiveCoords(CoordXYXY, [8]float64{7: math.Inf(1)}, 1, 1))
	refusesParam(t, "width is 0", NewPerspectiveCoords(CoordXYXY, [8]float64{}, 1, 0))
	refusesParam(t, "format", NewPerspectiveCoords(99, [8]float64{}, 1, 1))
}

func TestBoxOpsInputs(t *testing.T) {
	narrow := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(5, 3)}
	for _, op := range []Op{
		NewCropCoords(CoordXYXY, 0, 0, 1, 1), NewClampCoords(CoordXYXY, 1, 1),
		NewFlipCoords(CoordLTWH, false, 1), NewResizeCoords(CoordCXCYWH, 1, 1, 1, 1),
		NewAffineCoords(CoordXYXY, [6]float64{}, 1, 1), NewPerspectiveCoords(CoordXYXY, [8]float64{}, 1, 1),
	} {
		refusesInput(t, "want float32", op, vector)
		refusesInput(t, "at least 4 values", op, narrow)
		_, err := run(newContext(), op, floats(nil, 0, 4))
		require.NoError(t, err)
	}
}

// Cut the window of rows 10 to 59 and columns 20 to 99 out of an image.
func ExampleCropCoords() {
	boxes := floats([]float32{30, 15, 60, 80}, 1, 4)
	show(exampleRun(NewCropCoords(CoordXYXY, 10, 20, 50, 80), boxes)[0])
	// Output:
	// [10 5 40 50]
}

func ExampleClampCoords() {
	show(exampleRun(NewClampCoords(CoordLTWH, 480, 640), floats([]float32{-3, 5, 700, 400}, 1, 4))[0])
	// Output:
	// [0 5 640 400]
}

func ExampleFlipCoords() {
	show(exampleRun(NewFlipCoords(CoordXYXY, false, 640), floats([]float32{10, 20, 30, 40}, 1, 4))[0])
	show(exampleRun(NewFlipCoords(CoordXY, false, 640), floats([]float32{0, 20}, 1, 2))[0])
	// Output:
	// [610 20 630 40]
	// [639 20]
}

func ExampleResizeCoords() {
	show(exampleRun(NewResizeCoords(CoordXYXY, 480, 640, 240, 320), floats([]float32{10, 20, 30, 40}, 1, 4))[0])
	// Output:
	// [5 10 15 20]
}

// Rotate an image of 640 x 480 pixels by 180 degrees.
func ExampleAffineCoords() {
	op := NewAffineCoords(CoordXYXY, [6]float64{-1, 0, 640, 0, -1, 480}, 480, 640)
	show(exampleRun(op, floats([]float32{10, 20, 30, 40}, 1, 4))[0])
	// Output:
	// [610 440 630 460]
}

func ExamplePerspectiveCoords() {
	op := NewPerspectiveCoords(CoordXY, [8]float64{1, 0, 0, 0, 1, 0, 0, 0.5}, 480, 640)
	show(exampleRun(op, floats([]float32{10, 2}, 1, 2))[0])
	// Output:
	// [5 1]
}

func TestRowOpsInputs(t *testing.T) {
	vector4 := tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(4)}
	refusesInput(t, "two axes", NewValidBoxes(CoordXYXY, 1, 1), vector4)
	refusesInput(t, "at least two axes", NewValidKeypoints(1, 1), vector4)
	rows, mask := floats(make([]float32, 8), 2, 4), array(tensor.Bool, []uint8{1, 0, 1}, 3)
	refusesRun(t, "mask has 3 values, want one for each of the 2 rows", NewSelectRows(), rows, mask)
	refusesRun(t, "mask is int64 (2,), want bool", NewSelectRows(), rows, ints(1, 0))
	hwc := array(tensor.Uint8, make([]uint8, 27), 3, 3, 3)
	hwc.Layout = tensor.HWC
	refusesRun(t, "no layout or CHW", NewSelectRows(), hwc, mask)
}

// Keep the boxes that are inside the image, and their labels.
func ExampleSelectRows() {
	boxes := floats([]float32{10, 20, 30, 40, 50, 60, 50, 60}, 2, 4)
	mask := exampleRun(NewValidBoxes(CoordXYXY, 480, 640), boxes)[0]
	show(exampleRun(NewSelectRows(), boxes, mask)[0])
	fmt.Println(tensor.View[int64](exampleRun(NewSelectRows(), ints(7, 8), mask)[0]))
	// Output:
	// [10 20 30 40]
	// [7]
}

func ExampleValidBoxes() {
	boxes := floats([]float32{10, 20, 30, 40, 600, 20, 641, 40}, 2, 4)
	fmt.Println(exampleRun(NewValidBoxes(CoordXYXY, 480, 640), boxes)[0].Data)
	// Output:
	// [1 0]
}

func ExampleValidKeypoints() {
	fmt.Println(exampleRun(NewValidKeypoints(480, 640), floats([]float32{0, 479, 640, 3}, 2, 2))[0].Data)
	// Output:
	// [1 0]
}

func ExampleElasticNoiseCoords() {
	op := NewElasticNoiseCoords(CoordXY, 7, 48, 64)
	op.AlphaX, op.AlphaY = 0, 0 // nothing moves but to the pixel
	out := exampleRun(op, floats([]float32{10.5, 20}, 1, 2))
	fmt.Printf("%.3f\n", tensor.View[float32](out[0]))
	// Output:
	// [10.000 20.000]
}
