package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestTilesOrWhole(t *testing.T) {
	refusesParam(t, "factor", NewTilesOrWhole(0, 1, 1))
	refusesParam(t, "min_side", NewTilesOrWhole(1, 0, 1))
	refusesParam(t, "max_pixels", NewTilesOrWhole(1, 1, math.Inf(1)))
	const u = tensor.Unknown
	rows := func(dims ...int) tensor.Desc { return tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(dims...)} }
	for _, c := range []struct {
		h, w         int
		tiles, whole []int
		want         []int // none: refused
	}{
		{8, 8, []int{2, 3}, []int{1, 3}, []int{1, 3}},  // 8 * 8 is 64
		{8, 10, []int{2, 3}, []int{1, 3}, []int{1, 3}}, // 10 is half-way and becomes 8
		{8, 11, []int{2, 3}, []int{1, 3}, []int{3, 3}},
		{1, 80, []int{2, 3}, []int{1, 3}, []int{3, 3}}, // 2 * 80
		{1, 32, []int{2, 3}, []int{1, 3}, []int{1, 3}},
		{9, 90, []int{1, 3}, []int{1, 5}, []int{1, 3}}, // one tile stays alone
		{9, 90, []int{2, 3}, []int{1, 5}, nil},
		{8, 8, []int{2, 3}, []int{1, 5}, []int{1, 5}},
		{u, 8, []int{2, 3}, []int{1, 5}, []int{u, u}},
		{9, 90, []int{u, 3}, []int{1, 3}, []int{u, 3}},
		{8, 8, []int{2}, []int{1, 3}, nil},
	} {
		var out [1]tensor.Desc
		err := NewTilesOrWhole(4, 2, 64).Infer(out[:], []tensor.Desc{rows(c.tiles...), rows(c.whole...), tensor.Image(tensor.Uint8, tensor.HWC, c.h, c.w, 3)})
		if c.want == nil {
			require.ErrorIs(t, err, ErrInput, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, rows(c.want...), out[0], "%v", c)
	}
}

func ExampleTilesOrWhole() {
	tiles, _ := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(2, 1)})
	whole, _ := tensor.New(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(1, 1)})
	for _, pixels := range []float64{2, 3} {
		fmt.Println(exampleRun(NewTilesOrWhole(1, 1, pixels), tiles, whole, exampleBytes(1, 3, 1, 1, 2, 3))[0].Shape)
	}
	// Output:
	// (3, 1)
	// (1, 1)
}
