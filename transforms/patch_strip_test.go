package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestPatchStrip(t *testing.T) {
	refusesParam(t, "patch", NewPatchStrip(0))
	sizes := func(n int) tensor.Desc { return tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(n, 2)} }
	image := func(h, w int) tensor.Desc { return tensor.Image(tensor.Uint8, tensor.CHW, h, w, 3) }
	const u = tensor.Unknown
	for _, c := range []struct {
		whole, canvas, sizes tensor.Desc
		want                 int // 0: refused
	}{
		{image(2, 4), image(1, 1), sizes(1), 4},
		{image(2, 4), image(4, 4), sizes(3), 12},
		{image(2, 4), image(4, 4), sizes(u), u},
		{image(u, 4), image(1, 1), sizes(1), u},
		{image(2, 4), image(4, u), sizes(3), u},
		{image(2, 3), image(4, 4), sizes(3), 0},
		{image(2, 4), image(4, 5), sizes(3), 0},
		{image(2, 4), image(4, 4), sizes(0), 0},
		{image(2, 4), tensor.Image(tensor.Int8, tensor.CHW, 4, 4, 3), sizes(3), 0},
		{image(2, 4), tensor.Image(tensor.Uint8, tensor.CHW, 4, 4, 1), sizes(3), 0},
		{image(2, 4), tensor.Image(tensor.Uint8, tensor.HWC, 4, 4, 3), sizes(3), 0},
		{image(2, 4), image(4, 4), tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(3, 2)}, 0},
	} {
		var out [1]tensor.Desc
		err := NewPatchStrip(2).Infer(out[:], []tensor.Desc{c.whole, c.canvas, c.sizes})
		if c.want == 0 {
			require.ErrorIs(t, err, ErrInput, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, tensor.Dims(1, 3, 2, c.want), out[0].Shape, "%v", c)
	}
}

// blank returns a tensor of zeros.
func blank(t *testing.T, d tensor.Desc) *tensor.Tensor {
	x, err := tensor.New(d)
	require.NoError(t, err)
	return x
}

// TestPatchStripSizes gives sizes that contradict the images.
func TestPatchStripSizes(t *testing.T) {
	whole, canvas := blank(t, tensor.Image(tensor.Uint8, tensor.CHW, 2, 2, 1)), blank(t, tensor.Image(tensor.Uint8, tensor.CHW, 4, 2, 1))
	for _, c := range []struct {
		sizes []int32
		ok    bool
	}{
		{[]int32{2, 2, 2, 1, 2, 1, 2, 1, 2, 1}, true},
		{[]int32{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, false},
		{[]int32{2, 2, 2, 2, 2, 1, 2, 1, 2, 1}, false},
		{[]int32{2, 2, 3, 1, 2, 1, 2, 1, 2, 1}, false},
		{[]int32{2, 2, 0, 1, 2, 1, 2, 1, 2, 1}, false},
		{[]int32{2, 2, -4, -1, 2, 1, 2, 1, 2, 1}, false},
	} {
		sizes := blank(t, tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(len(c.sizes)/2, 2)})
		copy(tensor.View[int32](sizes), c.sizes)
		_, err := run(NewContext(codec.DefaultLimits()), NewPatchStrip(1), whole, canvas, sizes)
		if c.ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrInput, "%v", c.sizes)
		}
	}
}

func ExamplePatchStrip() {
	sizes, _ := tensor.New(tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(1, 2)})
	copy(tensor.View[int32](sizes), []int32{2, 2})
	x := exampleRun(NewHWC2CHW(), exampleBytes(2, 2, 1, 1, 2, 3, 4))[0]
	fmt.Println(exampleRun(NewPatchStrip(1), x, x, sizes)[0].Shape)
	// Output: (1, 1, 1, 4)
}
