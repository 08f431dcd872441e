package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestElasticNoise(t *testing.T) {
	change := func(f func(*ElasticNoise)) *ElasticNoise {
		op := NewElasticNoise(1)
		f(op)
		return op
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e7} {
		refusesParam(t, "alpha_x", change(func(o *ElasticNoise) { o.AlphaX = v }))
		refusesParam(t, "alpha_y", change(func(o *ElasticNoise) { o.AlphaY = v }))
		refusesParam(t, "sigma_x", change(func(o *ElasticNoise) { o.SigmaX = v }))
		refusesParam(t, "sigma_y", change(func(o *ElasticNoise) { o.SigmaY = v }))
	}
	refusesParam(t, "sigma_x", change(func(o *ElasticNoise) { o.SigmaX = 0 }))
	refusesParam(t, "sigma_y", change(func(o *ElasticNoise) { o.SigmaY = 0 }))
	refusesParam(t, "interpolation", change(func(o *ElasticNoise) { o.Interpolation = Bicubic }))
	refusesInput(t, "want sides of more than 20 pixels", NewElasticNoise(1), rgb8)
	refusesInput(t, "fill has 2 values", change(func(o *ElasticNoise) { o.Fill = NumberList{1, 2} }), rgb8.WithSize(50, 50))

	x, err := tensor.New(rgb8.WithSize(50, 50))
	require.NoError(t, err)
	c := NewContext(codec.Limits{Bytes: 1000})
	_, err = run(c, NewElasticNoise(1), x)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorIs(t, err, codec.ErrLimit)
	require.ErrorContains(t, err, "want at most 1000")
}

// TestElasticNoiseSize compares how far pixels move along the rows with
// torchvision 0.29.2's ElasticTransform of 64 x 64 pixels: 0.868 pixels, the
// standard deviation over 200 draws.
func TestElasticNoiseSize(t *testing.T) {
	x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 64, 64, 1))
	require.NoError(t, err)
	for i := range x.Data {
		x.Data[i] = uint8(i % 64 * 4)
	}
	sum, n := 0.0, 0
	for key := range uint64(short.Rounds(t, 40, 10)) {
		op := NewElasticNoise(key)
		for i, v := range applyOne(t, op, x).Data {
			if px, row := i%64, i/64; px > 10 && px < 54 && row > 10 && row < 54 {
				d := float64(int(v)-px*4) / 4
				sum += d * d
				n++
			}
		}
	}
	require.InDelta(t, 0.868, math.Sqrt(sum/float64(n)), 0.1)
}

func ExampleElasticNoise() {
	op := NewElasticNoise(3)
	op.SigmaX, op.SigmaY, op.AlphaX, op.AlphaY = 0, 0, 1, 1
	fmt.Println(exampleRun(op, exampleBytes(2, 3, 1, 10, 20, 30, 40, 50, 60))[0].Data)
	// Output: [5 30 38 12 44 45]
}
