package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCenterCropFraction(t *testing.T) {
	// The shorter side is 2: the window has int(1.98) = 1 row and int(2.5) = 2
	// columns, from column (5-2)/2 = 1.5.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 5, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	for rounding, want := range map[CropRounding][]byte{CropHalfEven: {3, 4}, CropFloor: {2, 3}, CropTruncate: {2, 3}} {
		op := &CenterCropFraction{Height: 0.99, Width: 1.25, CropRounding: rounding, Fill: []float64{0}}
		require.Equal(t, want, applyOne(t, op, x).Data, "%v", rounding)
	}
	// A larger window is padded.
	one := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 1, 5)
	require.Equal(t, []byte{0, 5, 0}, applyOne(t, NewCenterCropFraction(1, 3), one).Data)

	var out [1]tensor.Desc
	require.NoError(t, NewCenterCropFraction(0.5, 0.5).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 14, tensor.Unknown, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3), out[0])

	refusesParam(t, "height", NewCenterCropFraction(0, 1))
	refusesParam(t, "width", NewCenterCropFraction(1, maxSide+1))
	refusesParam(t, "height", NewCenterCropFraction(math.NaN(), 1))
	refusesParam(t, "crop_rounding", &CenterCropFraction{Height: 1, Width: 1, CropRounding: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &CenterCropFraction{Height: 1, Width: 1})
	refusesInput(t, "would become 0 x 1", &CenterCropFraction{Height: 0.5, Width: 1, Fill: []float64{0}}, one.Desc)
	refusesInput(t, "no pixels", NewCenterCropFraction(1, 1), empty)
}
