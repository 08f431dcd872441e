package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestRotatedByHand turns a box of 4 x 2 by a quarter.
func TestRotatedByHand(t *testing.T) {
	box := floats([]float32{10, 20, 4, 2, 90, 0.5}, 1, 6)
	out, err := run(newContext(), &ConvertBoxes{From: CoordCXCYWHR, To: CoordXYXYXYXY, Chained: true}, box)
	require.NoError(t, err)
	want := []float32{9, 22, 9, 18, 11, 18, 11, 22, 0.5} // first corner at the bottom left
	got := tensor.View[float32](out[0])
	require.Len(t, got, len(want))
	for i := range want {
		require.InDelta(t, want[i], got[i], 1e-6)
	}
	require.Equal(t, float32(0.5), got[8])
}

// TestRotatedRefused checks the errors for formats with an angle.
func TestRotatedRefused(t *testing.T) {
	for _, op := range []Op{
		NewConvertBoxes(CoordXYXY, CoordLTWHR),
		NewConvertBoxes(CoordLTWHR, CoordXYXYXYXY), // not chained
		&ConvertBoxes{From: CoordLTWHR, To: CoordLTWHR, Chained: true},
		NewScaleCoords(CoordLTWHR),
		NewShiftCoords(CoordLTWHR),
		NewClampCoordsToSize(CoordLTWHR),
		&CropCoords{Format: CoordLTWHR, Height: 1, Width: 1, Keep: KeepCenter},
		NewRandomIoUCrop(CoordLTWHR),
		NewRandomObjectCrop(CoordLTWHR),
		NewBoundingBoxAugment(CoordLTWHR, NewHorizontalFlip()),
	} {
		err := op.Validate()
		require.ErrorIs(t, err, ErrParam, "%T", op)
		require.ErrorContains(t, err, "ltwhr", "%T", op)
	}
	big := floats([]float32{1, 2, 3, 4, 2e7}, 1, 5)
	for _, op := range []Op{NewClampCoords(CoordCXCYWHR, 9, 9), NewValidBoxes(CoordCXCYWHR, 9, 9), &ConvertBoxes{From: CoordCXCYWHR, To: CoordLTWHR, Chained: true}} {
		refusesRun(t, "the angle of a box cxcywhr is 2e+07 degrees", op, big)
	}
	_, err := run(newContext(), NewClampCoords(CoordXYXYXYXY, 9, 9), big)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "at least 8 values")

	whole := array(tensor.Int32, []int32{1, 2, 3, 4, 5}, 1, 5)
	for _, op := range []Op{NewConvertBoxes(CoordXYXY, CoordLTWH), &ConvertBoxes{From: CoordCXCYWHR, To: CoordLTWHR, Chained: true}, NewClampCoords(CoordXYXY, 9, 9)} {
		refusesRun(t, "want float32", op, whole)
	}

	from := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(48, 64, 3), Layout: tensor.HWC}
	_, err = NewDraw(newContext()).MoveColumn(&ObjectCrop{Height: 5, Width: 5, Keep: KeepCenter},
		Role{Kind: RoleBoxes, Format: CoordLTWHR}, []tensor.Desc{big.Desc}, from, from.WithSize(5, 5))
	require.ErrorContains(t, err, "keep is center with format ltwhr")
}

// TestRotatedNaN checks that angles without a sine give NaN.
func TestRotatedNaN(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		out, err := run(newContext(), &ConvertBoxes{From: CoordLTWHR, To: CoordXYXYXYXY, Chained: true}, floats([]float32{1, 2, 3, 4, float32(v)}, 1, 5))
		require.NoError(t, err)
		got := fmt.Sprint(tensor.View[float32](out[0]))
		require.Equal(t, "[1 2 NaN NaN NaN NaN NaN NaN]", got)
	}
}
