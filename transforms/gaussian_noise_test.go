package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestGaussianNoise(t *testing.T) {
	// Without sigma the noise is the mean, truncated for uint8: 25.5 to 25.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 0, 100, 250)
	require.Equal(t, []byte{25, 125, 255}, applyOne(t, &GaussianNoise{Mean: 0.1, Clip: true}, x).Data)
	require.Equal(t, []byte{25, 125, 19}, applyOne(t, &GaussianNoise{Mean: 0.1}, x).Data)
	require.Equal(t, []byte{231, 75, 225}, applyOne(t, &GaussianNoise{Mean: -0.1}, x).Data)
	f := pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 1, 3, 0, 0.5, 2)
	require.Equal(t, []float32{0.25, 0.75, 1}, tensor.View[float32](applyOne(t, &GaussianNoise{Mean: 0.25, Clip: true}, f)))
	require.Equal(t, []float32{-0.25, 0.25, 1.75}, tensor.View[float32](applyOne(t, &GaussianNoise{Mean: -0.25}, f)))
	// The noise itself, for CHW and HWC.
	zero := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, 0, 0, 0, 0)
	out := tensor.View[float32](applyOne(t, &GaussianNoise{Sigma: 1, Key: 7}, zero))
	for n, v := range out {
		s := rng.Key{7}.At(uint64(n))
		require.Equal(t, float32(s.Normal()), v)
	}
	turned := tensor.View[float32](applyOne(t, &GaussianNoise{Sigma: 1, Key: 7}, pixelsOf[float32](t, tensor.Float32, tensor.HWC, 1, 2, 2, 0, 0, 0, 0)))
	require.Equal(t, []float32{out[0], out[2], out[1], out[3]}, turned)
}

func TestGaussianNoiseWrong(t *testing.T) {
	refusesParam(t, "sigma is -1, want 0 to 1e+06", NewGaussianNoise(-1, 0))
	refusesParam(t, "mean is NaN", &GaussianNoise{Mean: math.NaN()})
	refusesParam(t, "mean is -2e+06", &RandomGaussianNoise{Mean: -2e6})
	rgb := tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 3)
	refusesInput(t, "mean is 51 and sigma is 0: want -50 to 50 and up to 8", &GaussianNoise{Mean: 51}, rgb)
	refusesInput(t, "sigma is 9", &RandomGaussianNoise{Sigma: 9}, rgb)
	refusesInput(t, "want an image", NewGaussianNoise(1, 0), vector)
	refusesInput(t, "want dtype", NewGaussianNoise(1, 0), tensor.Image(tensor.Int16, tensor.HWC, 2, 2, 3))
}

func ExampleGaussianNoise() {
	image := exampleBytes(1, 2, 3, 100, 100, 100, 100, 100, 100)
	fmt.Println(exampleRun(NewGaussianNoise(0.1, 1), image)[0].Data)
	// Output: [87 131 89 83 150 47]
}

func ExampleRandomGaussianNoise() {
	fmt.Println(exampleDraw(NewRandomGaussianNoise(), 0))
	// Output: [{"op":"gaussian_noise","version":1,"params":{"mean":0,"sigma":0.1,"clip":true,"key":9260169713232697211}}]
}
