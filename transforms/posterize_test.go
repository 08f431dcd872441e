package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPosterize(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 3, 0, 31, 32, 100, 127, 128, 191, 254, 255)
	require.Equal(t, []byte{0, 0, 32, 96, 96, 128, 160, 224, 224}, applyOne(t, NewPosterize(3), x).Data)
	require.Equal(t, x.Data, applyOne(t, NewPosterize(8), x).Data)
	require.Equal(t, make([]byte, 9), applyOne(t, NewPosterize(0), x).Data)

	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 6, 1, 0, 0.49, 0.5, 1, -0.1, 1.5)
	require.Equal(t, []float32{0, 0.25, 0.5, 0.75, 0, 0.75}, tensor.View[float32](applyOne(t, NewPosterize(2), f)))
	extreme := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 3, 1, math.MaxFloat32, float32(math.Inf(-1)), float32(math.NaN()))
	got := tensor.View[float32](applyOne(t, NewPosterize(1), extreme))
	require.Equal(t, []float32{0.5, 0}, got[:2])
	require.True(t, got[2] != got[2])

	refusesParam(t, "bits is 9, want 0 to 8", NewPosterize(9))
	refusesParam(t, "bits is -1", NewPosterize(-1))
	refusesInput(t, "want dtype", NewPosterize(1), tensor.Image(tensor.Uint16, tensor.HWC, 2, 2, 3))
	refusesInput(t, "want an image", NewPosterize(1), vector)
}

func ExamplePosterize() {
	fmt.Println(exampleRun(NewPosterize(2), exampleBytes(1, 2, 3, 200, 150, 100, 63, 64, 255))[0].Data)
	// Output: [192 128 64 0 64 192]
}
