package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestImageSize(t *testing.T) {
	x := randomImage(t, tensor.Uint8, tensor.CHW, 4, 7, 3)
	require.Equal(t, []int64{4, 7}, tensor.View[int64](applyOne(t, NewImageSize(), x)))
	require.Equal(t, []int32{4, 7}, tensor.View[int32](applyOne(t, &ImageSize{DType: tensor.Int32}, x)))
	require.Equal(t, []float32{4, 7}, tensor.View[float32](applyOne(t, &ImageSize{DType: tensor.Float32}, x)))
	for _, d := range []tensor.DType{tensor.Invalid, tensor.Uint8, tensor.Int16, tensor.Float16, tensor.Float64, tensor.Bytes, 99} {
		refusesParam(t, "dtype", &ImageSize{DType: d})
	}
	refusesInput(t, "want an image", NewImageSize(), vector)
	refusesInput(t, "no pixels", NewImageSize(), empty)
	refusesInput(t, "want sides of at most", NewImageSize(), tensor.Image(tensor.Uint8, tensor.HWC, 1, maxSide+1, 1))
}
