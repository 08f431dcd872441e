package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestExpandDims(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 1, 2, 3, 1, 2, 3, 4, 5, 6)
	for axis, want := range []tensor.Shape{tensor.Dims(1, 3, 1, 2), tensor.Dims(3, 1, 1, 2), tensor.Dims(3, 1, 1, 2), tensor.Dims(3, 1, 2, 1)} {
		y := applyOne(t, NewExpandDims(axis), x)
		require.Equal(t, tensor.Desc{DType: tensor.Uint8, Shape: want}, y.Desc)
		require.Equal(t, x.Data, y.Data)
	}
	var out [1]tensor.Desc
	in := tensor.Image(tensor.Float32, tensor.CHW, tensor.Unknown, 5, 3)
	require.NoError(t, NewExpandDims(0).Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Dims(1, 3, tensor.Unknown, 5), out[0].Shape)

	refusesParam(t, "axis", NewExpandDims(-1))
	refusesParam(t, "axis", NewExpandDims(tensor.MaxRank))
	refusesInput(t, "want a dtype of fixed size and 4 to 7 axes", NewExpandDims(4), rgb8)
	refusesInput(t, "0 to 7 axes", NewExpandDims(0), tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(1, 1, 1, 1, 1, 1, 1, 1)})
	refusesInput(t, "want a dtype of fixed size", NewExpandDims(0), tensor.Desc{DType: tensor.Bytes, Shape: tensor.Dims()})
}
