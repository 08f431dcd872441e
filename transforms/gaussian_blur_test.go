package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGaussianBlurPillow(t *testing.T) {
	// Three boxes of three pixels: 81 81 81, then 27 54 81 54 27.
	row := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 9, 1, 0, 0, 0, 0, 243, 0, 0, 0, 0)
	blur := &GaussianBlur{SigmaX: 1.4142135, Backend: Pillow}
	require.Equal(t, []byte{0, 9, 27, 54, 63, 54, 27, 9, 0}, applyOne(t, blur, row).Data)
	// The border repeats the first pixel: 27 13 0, 22 13 4, 19 13 6 1.
	edge := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 5, 1, 1, 40, 0, 0, 0, 0)
	require.Equal(t, []byte{19, 13, 6, 1, 0}, applyOne(t, &GaussianBlur{SigmaY: 1.4142135, Backend: Pillow}, edge).Data)
	// A constant image stays the same, however wide the box is.
	flat := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 2, 2, 2, 9, 9, 9, 9, 200, 200, 200, 200)
	require.Equal(t, flat.Data, applyOne(t, NewGaussianBlur(maxSigma), flat).Data)
	require.Equal(t, row.Data, applyOne(t, NewGaussianBlur(0), row).Data)
}

func TestGaussianBlurWrong(t *testing.T) {
	refusesInput(t, "want dtype", NewGaussianBlur(1), rgb32)
	refusesInput(t, "want an image", NewGaussianBlur(1), vector)
	refusesParam(t, "sigma_y is -1, want 0 to 10000", NewGaussianBlur(-1))
	refusesParam(t, "sigma_x is NaN", &GaussianBlur{SigmaX: math.NaN()})
	refusesParam(t, "kernel_height 3, kernel_width 0, want 0 with backend pillow", &GaussianBlur{KernelHeight: 3})
	refusesParam(t, "backend is mxnet", &GaussianBlur{Backend: MXNet})
}

func ExampleGaussianBlur() {
	image := exampleBytes(1, 7, 1, 0, 0, 0, 255, 0, 0, 0)
	fmt.Println(exampleRun(NewGaussianBlur(1), image)[0].Data)
	// Output: [1 14 60 103 60 14 1]
}
