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

func TestGaussianBlurOpenCV(t *testing.T) {
	row := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 5, 1, 0, 0, 128, 0, 7)
	// The weights are 64, 128, 64 of 256; the pixel beyond the end is the last
	// but one.
	three := &GaussianBlur{KernelWidth: 3, KernelHeight: 3, Backend: OpenCV}
	require.Equal(t, []byte{0, 32, 64, 34, 4}, applyOne(t, three, row).Data)
	// 16, 64, 96, 64, 16 of 256, and rounded once.
	square := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 1, 1, 9, 0, 0, 0, 0, 255, 0, 0, 0, 0).Data
	image := pixelsOf(t, tensor.Uint8, tensor.HWC, 3, 3, 1, square...)
	// (16+96+16)/256 and 128/256 of 255 for each axis.
	require.Equal(t, []byte{64, 64, 64, 64, 64, 64, 64, 64, 64}, applyOne(t, &GaussianBlur{KernelWidth: 5, KernelHeight: 5, Backend: OpenCV}, image).Data)
	// SigmaY 0 is SigmaX, and size 0 is derived from it.
	a := &GaussianBlur{SigmaX: 1, Backend: OpenCV}
	b := &GaussianBlur{KernelWidth: 7, KernelHeight: 7, SigmaX: 1, SigmaY: 1, Backend: OpenCV}
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 2, 3, 1, 2, 3, 40, 50, 60, 70, 80, 90, 100, 110, 120)
	require.Equal(t, applyOne(t, b, x).Data, applyOne(t, a, x).Data)
}

func TestGaussianBlurTorch(t *testing.T) {
	// A sigma of 0.001 keeps the image, and one of 10000 averages.
	row := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 4, 1, 9, 0, 30, 90)
	blur := &GaussianBlur{KernelHeight: 1, KernelWidth: 3, SigmaY: 1, SigmaX: 0.001, Backend: Torch}
	require.Equal(t, row.Data, applyOne(t, blur, row).Data)
	blur.SigmaX = maxSigma
	require.Equal(t, []byte{3, 13, 40, 50}, applyOne(t, blur, row).Data)
	// float32 is not rounded.
	x := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 3, 1, 1, 0, 0)
	out := tensor.View[float32](applyOne(t, blur, x))
	require.InDeltaSlice(t, []float32{1. / 3, 1. / 3, 0}, out, 1e-6)

	refusesInput(t, "want more than 2 x 1 pixels", &GaussianBlur{KernelHeight: 5, KernelWidth: 3, SigmaY: 1, SigmaX: 1, Backend: Torch}, tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 3))
	refusesInput(t, "want more than 0 x 1 pixels", blur, tensor.Image(tensor.Float32, tensor.HWC, 2, 1, 3))
	refusesParam(t, "want 0.001 to 10000 with backend torch", &GaussianBlur{KernelHeight: 3, KernelWidth: 3, SigmaX: 1, Backend: Torch})
	refusesParam(t, "kernel_height is 0, want an odd number", &GaussianBlur{KernelWidth: 3, SigmaX: 1, SigmaY: 1, Backend: Torch})
}

func TestGaussianBlurWrong(t *testing.T) {
	refusesInput(t, "want dtype", NewGaussianBlur(1), rgb32)
	refusesInput(t, "want an image", NewGaussianBlur(1), vector)
	refusesParam(t, "sigma_y is -1, want 0 to 10000", NewGaussianBlur(-1))
	refusesParam(t, "sigma_x is NaN", &GaussianBlur{SigmaX: math.NaN()})
	refusesParam(t, "kernel_height 3, kernel_width 0, want 0 with backend pillow", &GaussianBlur{KernelHeight: 3})
	refusesParam(t, "kernel_width is 4, want an odd number of 1 to 4095", &GaussianBlur{KernelHeight: 3, KernelWidth: 4, Backend: OpenCV})
	refusesParam(t, "kernel_height is -1", &GaussianBlur{KernelHeight: -1, Backend: OpenCV})
	refusesParam(t, "kernel_height is 4097", &GaussianBlur{KernelHeight: 4097, Backend: OpenCV})
	refusesParam(t, "kernel_height and sigma_y are 0", &GaussianBlur{KernelWidth: 3, Backend: OpenCV})
	refusesParam(t, "kernel_height is 0 and sigma_y is 700, which makes a kernel of 4201 taps", &GaussianBlur{SigmaX: 700, Backend: OpenCV})
	refusesParam(t, "backend is mxnet", &GaussianBlur{Backend: MXNet})
}

func ExampleGaussianBlur() {
	image := exampleBytes(1, 7, 1, 0, 0, 0, 255, 0, 0, 0)
	fmt.Println(exampleRun(NewGaussianBlur(1), image)[0].Data)
	// Output: [1 14 60 103 60 14 1]
}
