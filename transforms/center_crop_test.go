package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCenterCrop(t *testing.T) {
	row := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 5, 1, 1, 2, 3, 4, 5)
	for _, k := range []struct {
		width int
		round CropRounding
		want  []byte
	}{
		{5, CropHalfEven, []byte{1, 2, 3, 4, 5}},
		{4, CropHalfEven, []byte{1, 2, 3, 4}}, // 0.5 rounds to 0
		{4, CropFloor, []byte{1, 2, 3, 4}},
		{2, CropHalfEven, []byte{3, 4}}, // 1.5 rounds to 2
		{2, CropFloor, []byte{2, 3}},
		{6, CropHalfEven, []byte{1, 2, 3, 4, 5, 9}},
		{6, CropFloor, []byte{9, 1, 2, 3, 4, 5}},
		{8, CropHalfEven, []byte{9, 1, 2, 3, 4, 5, 9, 9}},
		{8, CropFloor, []byte{9, 9, 1, 2, 3, 4, 5, 9}},
		{2, CropTruncate, []byte{2, 3}},
		{4, CropTruncate, []byte{1, 2, 3, 4}},
		{8, CropTruncate, []byte{9, 1, 2, 3, 4, 5, 9, 9}},
	} {
		op := &CenterCrop{Height: 1, Width: k.width, CropRounding: k.round, Fill: []float64{9}}
		require.Equal(t, k.want, applyOne(t, op, row).Data, "%d %v", k.width, k.round)
	}

	refusesParam(t, "height", NewCenterCrop(0, 5))
	refusesParam(t, "width", NewCenterCrop(5, -1))
	refusesParam(t, "width", NewCenterCrop(5, maxSide+1))
	refusesParam(t, "crop_rounding", &CenterCrop{Height: 1, Width: 1, CropRounding: 9, Fill: []float64{0}})
	refusesParam(t, "fill", &CenterCrop{Height: 1, Width: 1})
	for _, v := range notFinite {
		refusesParam(t, "fill[0]", &CenterCrop{Height: 1, Width: 1, Fill: []float64{v}})
	}
	refusesInput(t, "fill has 2 values", &CenterCrop{Height: 1, Width: 1, Fill: []float64{0, 1}}, rgb8)
	refusesInput(t, "uint8 cannot hold fill[0] = 256", &CenterCrop{Height: 1, Width: 1, Fill: []float64{256}}, rgb8)
	refusesInput(t, "cannot hold fill[1] = 0.5", &CenterCrop{Height: 1, Width: 1, Fill: []float64{0, 0.5, 0}}, rgb8)
	refusesInput(t, "want an image", NewCenterCrop(1, 1), vector)
	refusesInput(t, "no pixels", NewCenterCrop(1, 1), empty)
}

func TestFillHolds(t *testing.T) {
	for _, k := range []struct {
		d  tensor.DType
		v  float64
		ok bool
	}{
		{tensor.Uint8, 255, true}, {tensor.Uint8, -1, false}, {tensor.Int8, -128, true}, {tensor.Int8, 128, false},
		{tensor.Uint16, 65535, true}, {tensor.Uint16, 65536, false}, {tensor.Int16, 32768, false}, {tensor.Int32, 1 << 31, false},
		{tensor.Int64, 1 << 62, true}, {tensor.Int64, 1 << 63, false}, {tensor.Int64, -1 << 63, true}, {tensor.Bool, 1, true}, {tensor.Bool, 2, false},
		{tensor.Float16, 65504, true}, {tensor.Float16, 65505, false}, {tensor.BFloat16, 3e38, true}, {tensor.BFloat16, 3.4e38, false},
		{tensor.Float32, 3.4e38, true}, {tensor.Float32, 3.5e38, false}, {tensor.Float64, 1e300, true},
	} {
		require.Equal(t, k.ok, holds(k.d, k.v), "%v in %v", k.v, k.d)
	}
	x, err := tensor.New(tensor.Image(tensor.BFloat16, tensor.HWC, 1, 1, 1))
	require.NoError(t, err)
	op := &Pad{Right: 1, Fill: []float64{1.5}}
	require.Equal(t, []uint16{0, 0x3FC0}, tensor.View[uint16](applyOne(t, op, x)))
	x.DType = tensor.Float16
	require.Equal(t, []uint16{0, 0x3E00}, tensor.View[uint16](applyOne(t, op, x)))
}
