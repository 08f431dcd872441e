package transforms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeAlignCorners(t *testing.T) {
	x := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, 0, 4, 10, 30)
	require.Equal(t, []float32{0, 1, 2, 3, 4, 10, 15, 20, 25, 30}, tensor.View[float32](applyOne(t, NewResizeAlignCorners(1, 5), x)))
	// One output samples the first pixel.
	require.Equal(t, []float32{0, 10}, tensor.View[float32](applyOne(t, NewResizeAlignCorners(1, 1), x)))

	var out [1]tensor.Desc
	op := &ResizeAlignCorners{Height: 384, Width: 512, Multiple: 32, KeepAspect: true, SizeRule: SizeHalfEven, Interpolation: Bicubic}
	require.NoError(t, op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Float32, tensor.CHW, 480, 601, 3)}))
	require.Equal(t, tensor.Image(tensor.Float32, tensor.CHW, 416, 512, 3), out[0])

	refusesParam(t, "height", NewResizeAlignCorners(0, 1))
	refusesParam(t, "multiple", &ResizeAlignCorners{Height: 1, Width: 1, Interpolation: Bilinear})
	refusesParam(t, "size_rule", &ResizeAlignCorners{Height: 1, Width: 1, Multiple: 1, SizeRule: SizeCapUnrounded, Interpolation: Bilinear})
	refusesParam(t, "interpolation", &ResizeAlignCorners{Height: 1, Width: 1, Multiple: 1, Interpolation: Lanczos})
	refusesParam(t, "interpolation", &ResizeAlignCorners{Height: 1, Width: 1, Multiple: 1, Interpolation: NearestExact})
	refusesInput(t, "want dtype", NewResizeAlignCorners(2, 2), tensor.Image(tensor.Int32, tensor.HWC, 4, 5, 3))
	refusesInput(t, "want an image", NewResizeAlignCorners(2, 2), vector)
}
