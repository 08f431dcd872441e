package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// pixelsOf returns an image of literal values.
func pixelsOf[T tensor.Elem](t *testing.T, d tensor.DType, l tensor.Layout, h, w, c int, v ...T) *tensor.Tensor {
	t.Helper()
	x, err := tensor.New(tensor.Image(d, l, h, w, c))
	require.NoError(t, err)
	require.Equal(t, len(v), copy(tensor.View[T](x), v))
	require.Len(t, tensor.View[T](x), len(v))
	return x
}

// applyOne runs an op of one input and one output.
func applyOne(t *testing.T, op Op, src *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	out, err := run(newContext(), op, src)
	require.NoError(t, err)
	require.Len(t, out, 1)
	return out[0]
}

// refusesParam requires Validate to return an ErrParam whose text contains
// word.
func refusesParam(t *testing.T, word string, op Op) {
	t.Helper()
	err := op.Validate()
	require.ErrorIs(t, err, ErrParam)
	require.ErrorContains(t, err, word)
}

// refusesInput requires Infer to return an ErrInput whose text contains word.
func refusesInput(t *testing.T, word string, op Op, d tensor.Desc) {
	t.Helper()
	require.NoError(t, op.Validate())
	err := op.Infer(make([]tensor.Desc, 1), []tensor.Desc{d})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, word)
}

var (
	rgb8   = tensor.Image(tensor.Uint8, tensor.HWC, 4, 5, 3)
	rgb32  = tensor.Image(tensor.Float32, tensor.HWC, 4, 5, 3)
	vector = tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(4)}
	empty  = tensor.Image(tensor.Uint8, tensor.HWC, 0, 5, 3)
)

var notFinite = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e39}
