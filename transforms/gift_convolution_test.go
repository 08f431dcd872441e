package transforms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftConvolution(t *testing.T) {
	row := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 4, 1, 10, 20, 40, 80)
	// The right neighbour minus the left one; the border is repeated.
	k := []float64{0, 0, 0, -1, 0, 1, 0, 0, 0}
	require.Equal(t, []byte{10, 30, 60, 40}, applyOne(t, NewGiftConvolution(k), row).Data)
	mirrored := []float64{0, 0, 0, 1, 0, -1, 0, 0, 0}
	require.Equal(t, []byte{0, 0, 0, 0}, applyOne(t, NewGiftConvolution(mirrored), row).Data)
	require.Equal(t, []byte{10, 30, 60, 40}, applyOne(t, &GiftConvolution{Kernel: mirrored, Abs: true}, row).Data)
	// The weights' sum is 0, so they are divided by the sum of the positive
	// ones.
	double := []float64{0, 0, 0, -1, 0, 2, 0, 0, -1}
	require.Equal(t, []byte{5, 15, 30, 20}, applyOne(t, &GiftConvolution{Kernel: double, Normalize: true}, row).Data)
	// Alpha is kept, or filtered.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 1, 1, 4, 10, 20, 30, 100)
	require.Equal(t, []byte{20, 40, 60, 100}, applyOne(t, NewGiftConvolution([]float64{2}), x).Data)
	require.Equal(t, []byte{20, 40, 60, 200}, applyOne(t, &GiftConvolution{Kernel: []float64{2}, Alpha: true}, x).Data)

	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		n := 1 + 2*r.IntN(4)
		wide, narrow := make([]float64, n*n), make([]float32, n*n)
		for i := range wide {
			if r.IntN(4) > 0 {
				narrow[i] = float32(r.NormFloat64())
			}
			wide[i] = float64(narrow[i])
		}
		o := &GiftConvolution{wide, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, float64(r.IntN(3)) / 8}
		return o, gift.Convolution(narrow, o.Normalize, o.Alpha, o.Abs, float32(o.Delta))
	})
}

func TestGiftConvolutionWrong(t *testing.T) {
	refusesParam(t, "kernel has 0 weights, want n*n with an odd n of 1 to 255", NewGiftConvolution(nil))
	refusesParam(t, "kernel has 4 weights", NewGiftConvolution(make([]float64, 4)))
	refusesParam(t, "kernel has 10 weights", NewGiftConvolution(make([]float64, 10)))
	refusesParam(t, "kernel has 66049 weights", NewGiftConvolution(make([]float64, 257*257)))
	refusesParam(t, "kernel[0] is NaN", NewGiftConvolution([]float64{math.NaN()}))
	refusesParam(t, "kernel[0] is 2e+06, want -1e+06 to 1e+06", NewGiftConvolution([]float64{2e6}))
	refusesParam(t, "kernel[0] is 1 and normalized 1.8446744073709552e+19, want at most 1e+09",
		&GiftConvolution{Kernel: []float64{1, -1, 0, 0, 0, 0, 0, 0, 0x1p-64}, Normalize: true})
	refusesParam(t, "delta is +Inf", &GiftConvolution{Kernel: []float64{1}, Delta: math.Inf(1)})
	refusesInput(t, "want [1 3 4] channels", NewGiftConvolution([]float64{1}), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftConvolution() {
	image := exampleBytes(1, 6, 1, 10, 10, 10, 90, 90, 90)
	sharpen := NewGiftConvolution([]float64{0, -1, 0, -1, 5, -1, 0, -1, 0})
	fmt.Println(exampleRun(sharpen, image)[0].Data)
	// Output: [10 10 0 170 90 90]
}
