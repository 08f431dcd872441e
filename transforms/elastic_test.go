package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestElastic(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 4, 1, 10, 20, 30, 40)
	// One pixel is half of half the width.
	field := exampleField(1, 4, 0.5, 0, 0.25, 0, 0, 0, -1.5, 0)
	op := NewElastic()
	got, err := run(newContext(), op, x, field)
	require.NoError(t, err)
	require.Equal(t, []byte{20, 25, 30, 10}, got[0].Data)

	refusesParam(t, "interpolation", &Elastic{Interpolation: Bicubic})
	refusesParam(t, "fill", &Elastic{Fill: NumberList{1e300}})
	var out [1]tensor.Desc
	for _, d := range []tensor.Desc{
		tensor.Image(tensor.Float32, tensor.HWC, 1, 4, 2), {DType: tensor.Float64, Shape: tensor.Dims(1, 4, 2)},
		{DType: tensor.Float32, Shape: tensor.Dims(4, 2)}, {DType: tensor.Float32, Shape: tensor.Dims(1, 5, 2)}, {DType: tensor.Float32, Shape: tensor.Dims(1, 4, 3)},
	} {
		require.ErrorIs(t, op.Infer(out[:], []tensor.Desc{x.Desc, d}), ErrInput, "%v", d)
	}
	require.ErrorIs(t, op.Infer(out[:], []tensor.Desc{rgb32, field.Desc}), ErrInput)
}

func ExampleElastic() {
	// The first pixel comes from one pixel to the right.
	field := exampleField(1, 2, 1, 0, 0, 0)
	fmt.Println(exampleRun(NewElastic(), exampleBytes(1, 2, 1, 10, 20), field)[0].Data)
	// Output: [20 20]
}

// exampleField returns a displacement.
func exampleField(h, w int, v ...float32) *tensor.Tensor {
	t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(h, w, 2)})
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float32](t), v)
	return t
}
