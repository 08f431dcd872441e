package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCropPooling(t *testing.T) {
	for name, f := range map[string]func(*CropPooling){
		"crop": func(o *CropPooling) { o.Crop = 0 }, "patch": func(o *CropPooling) { o.Patch = 5 }, "left": func(o *CropPooling) { o.Left = 27 },
		"right": func(o *CropPooling) { o.Right = -1 }, "together": func(o *CropPooling) { o.Left, o.Right = 20, 7 },
		"pool_height": func(o *CropPooling) { o.PoolHeight = 65 }, "pool_width": func(o *CropPooling) { o.PoolWidth = 0 },
	} {
		o := NewCropPooling(378, 14)
		f(o)
		refusesParam(t, name, o)
	}
	const u = tensor.Unknown
	for _, c := range []struct{ h, w, want int }{ // want 0: refused
		{378, 378, 2 * 14 * 14}, {378, 644, 14*14 + 14*23}, {u, 378, u}, {364, 378, 0}, {378, 392, 0}, {379, 378, 0},
	} {
		var out [2]tensor.Desc
		err := NewCropPooling(378, 14).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, c.h, c.w, 3)})
		if c.want == 0 {
			require.ErrorIs(t, err, ErrInput, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, tensor.Dims(c.want, 4), out[0].Shape, "%v", c)
	}
	var out [2]tensor.Desc
	o := &CropPooling{Crop: 1 << 16, Patch: 1, PoolHeight: 1, PoolWidth: 1}
	require.ErrorIs(t, o.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 1<<16, 1<<16, 3)}), ErrInput, "2^33 patches")
}

func ExampleCropPooling() {
	o := &CropPooling{Crop: 2, Patch: 1, PoolHeight: 2, PoolWidth: 2}
	out := exampleRun(o, exampleBytes(2, 4, 1, make([]byte, 8)...))
	fmt.Println(tensor.View[int32](out[0]), tensor.View[int64](out[1]))
	// Output: [0 1 2 3 4 5 6 7 8 9 10 11] [1 1 1 2]
}
