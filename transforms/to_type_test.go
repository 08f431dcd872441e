package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestToType(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	hard := []float32{nan, inf, -inf, 1e30, -1e30, 300.7, -1.7, 0.5, 1.5, 254.5, -0.5, 255.5}
	for _, k := range []struct {
		rule CastRule
		want []uint8
	}{
		{CastTruncate, []uint8{0, 255, 0, 255, 0, 255, 0, 0, 1, 254, 0, 255}},
		{CastSaturate, []uint8{0, 255, 0, 255, 0, 255, 0, 0, 2, 254, 0, 255}},
	} {
		x := pixelsOf(t, tensor.Float32, tensor.HWC, 1, 4, 3, hard...)
		require.Equal(t, k.want, applyOne(t, &ToType{DType: tensor.Uint8, Rule: k.rule}, x).Data, "%v", k.rule)
		want := []int64{0, math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64}
		require.Equal(t, want, tensor.View[int64](applyOne(t, &ToType{DType: tensor.Int64, Rule: k.rule}, x))[:5], "%v", k.rule)
		require.Equal(t, []int32{0, math.MaxInt32, math.MinInt32, math.MaxInt32, math.MinInt32},
			tensor.View[int32](applyOne(t, &ToType{DType: tensor.Int32, Rule: k.rule}, x))[:5], "%v", k.rule)
		require.Equal(t, []uint8{1, 1, 1}, applyOne(t, &ToType{DType: tensor.Bool, Rule: k.rule}, x).Data[:3], "%v", k.rule)
	}
	x := pixelsOf[int32](t, tensor.Int32, tensor.HWC, 1, 1, 4, 300, -1, 256, math.MinInt32)
	require.Equal(t, []uint8{44, 255, 0, 0}, applyOne(t, NewToType(tensor.Uint8), x).Data, "integers wrap")
	require.Equal(t, []uint8{255, 0, 255, 0}, applyOne(t, &ToType{DType: tensor.Uint8, Rule: CastSaturate}, x).Data)
	require.Equal(t, []int64{300, -1, 256, math.MinInt32}, tensor.View[int64](applyOne(t, &ToType{DType: tensor.Int64, Rule: CastSaturate}, x)))
	require.Equal(t, []uint8{1, 1, 1, 1}, applyOne(t, NewToType(tensor.Bool), x).Data)
	require.Equal(t, []uint16{0x4396, 0xBF80, 0x4380, 0xCF00}, tensor.View[uint16](applyOne(t, NewToType(tensor.BFloat16), x)))
	// Ties round to even, and 1e39 becomes infinite.
	y := pixelsOf[float64](t, tensor.Float64, tensor.HWC, 1, 1, 4, 1, 1+1.0/256, 1+3.0/256, 1e39)
	b := applyOne(t, NewToType(tensor.BFloat16), y)
	require.Equal(t, []uint16{0x3F80, 0x3F80, 0x3F82, 0x7F80}, tensor.View[uint16](b))
	require.Equal(t, []int8{1, 1, 1, 127}, tensor.View[int8](applyOne(t, NewToType(tensor.Int8), b)))

	refusesParam(t, "dtype", NewToType(tensor.Bytes))
	refusesParam(t, "dtype", NewToType(tensor.Invalid))
	refusesParam(t, "rule", &ToType{DType: tensor.Uint8, Rule: 2})
	refusesInput(t, "want a tensor", NewToType(tensor.Uint8), tensor.Encoded())
	refusesInput(t, "want sizes of 0 or more", NewToType(tensor.Uint8), tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(-3)})
}
