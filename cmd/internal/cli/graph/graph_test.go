package graph

import (
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestIndent(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, "{}\n"},
		{`{"a":[]}`, "{\n  \"a\": []\n}\n"},
		{`{"a":[1,2,3],"b":"x"}`, "{\n  \"a\": [1, 2, 3],\n  \"b\": \"x\"\n}\n"},
		{`{"a":[[1],{"b":[2,3]}]}`, "{\n  \"a\": [\n    [1],\n    {\n      \"b\": [2, 3]\n    }\n  ]\n}\n"},
		{`{"a":["]","["]}`, "{\n  \"a\": [\"]\", \"[\"]\n}\n"},
	} {
		got, err := indent([]byte(c.in))
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
}

func TestPicture(t *testing.T) {
	image := func(d tensor.DType, l tensor.Layout, h, w, c int) *tensor.Tensor {
		x, err := tensor.New(tensor.Image(d, l, h, w, c))
		require.NoError(t, err)
		return x
	}
	x := image(tensor.Float32, tensor.CHW, 1, 2, 3)
	copy(tensor.View[float32](x), []float32{-1, 1, 0, 0, 0.5, 1})
	m := Picture(x)
	require.Equal(t, color.NRGBA{0, 128, 191, 255}, m.At(0, 0))
	require.Equal(t, color.NRGBA{255, 128, 255, 255}, m.At(1, 0))

	x = image(tensor.Uint8, tensor.HWC, 1, 1, 4)
	copy(x.Data, []byte{1, 2, 3, 4})
	require.Equal(t, color.NRGBA{1, 2, 3, 4}, Picture(x).At(0, 0))

	x = image(tensor.Float16, tensor.HWC, 1, 2, 1)
	copy(tensor.View[uint16](x), []uint16{0x3c00, 0x7e00}) // 1 and NaN
	require.Equal(t, color.NRGBA{0, 0, 0, 255}, Picture(x).At(0, 0))
	require.Equal(t, color.NRGBA{0, 0, 0, 255}, Picture(x).At(1, 0))

	require.Nil(t, Picture(image(tensor.Uint8, tensor.HWC, 1, 1, 2)), "two channels")
	require.Nil(t, Picture(image(tensor.Uint8, tensor.HWC, 0, 1, 3)), "no pixel")
	plain, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)})
	require.NoError(t, err)
	require.Nil(t, Picture(plain))
}
