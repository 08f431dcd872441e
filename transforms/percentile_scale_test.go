package transforms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestPercentileScale(t *testing.T) {
	x := pixelsOf[uint16](t, tensor.Uint16, tensor.HWC, 1, 5, 2, 10, 7, 20, 7, 30, 7, 40, 7, 50, 9)
	// Of 10, 20, 30, 40, 50 the percentiles are 20 and 40.
	y := applyOne(t, &PercentileScale{Low: 25, High: 75}, x)
	require.Equal(t, tensor.Image(tensor.Float32, tensor.HWC, 1, 5, 2), y.Desc)
	got := tensor.View[float32](y)
	for i, v := range []float32{0, 0, 0.5, 1, 1} {
		require.Equal(t, v, got[2*i])
	}
	require.True(t, math.IsNaN(float64(got[1])), "7 of a channel whose percentiles are 7")
	require.Equal(t, float32(1), got[9])
	// Without 10 and 9 they are 27.5 and 42.5; a channel of 7 is 0.
	got = tensor.View[float32](applyOne(t, &PercentileScale{Low: 25, High: 75, Epsilon: 1e-5, NoData: []float64{10, 9}}, x))
	require.InDelta(t, (30-27.5)/15, got[4], 1e-6)
	require.Zero(t, got[1])

	nan := float32(math.NaN())
	z := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, nan, -1, nan, nan)
	z = applyOne(t, &PercentileScale{Low: 0, High: 100, Epsilon: 1}, z)
	require.Zero(t, tensor.View[float32](z)[1])
	require.True(t, math.IsNaN(float64(tensor.View[float32](z)[0])))

	refusesParam(t, "low is -1", NewPercentileScale(-1, 2))
	refusesParam(t, "high is 101", NewPercentileScale(1, 101))
	refusesParam(t, "high is 5, want more than low, 5", NewPercentileScale(5, 5))
	refusesParam(t, "epsilon", &PercentileScale{High: 1, Epsilon: -1})
	refusesParam(t, "no_data[0]", &PercentileScale{High: 1, NoData: []float64{math.Inf(1)}})
	refusesInput(t, "want an image", NewPercentileScale(2, 98), vector)
	refusesInput(t, "want dtype", NewPercentileScale(2, 98), tensor.Image(tensor.Float64, tensor.HWC, 1, 1, 2))
	refusesInput(t, "no_data has 2 values", &PercentileScale{High: 1, NoData: []float64{1, 2}}, rgb8)

	o := NewPercentileScale(2, 98)
	_, err := run(NewContext(codec.Limits{Bytes: 1000}), o, x)
	require.ErrorIs(t, err, codec.ErrLimit)
}

// TestRank compares ranks with sorted values.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 100, 1000} {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(60)-30)))
			if r.IntN(3) == 0 {
				values[i] = values[r.IntN(i+1)]
			}
		}
		p := percentiles{upper: new([countLen]int32), lower: new([countLen]int32), bucket: notCounted, single: true}
		keys := make([]int32, n)
		for i, v := range values {
			keys[i] = int32(floatKey(v))
		}
		slices.Sort(values)
		for range 40 {
			i := r.IntN(n)
			require.Equal(t, float64(values[i]), keyFloat(p.rank(keys, i)))
		}
	}
}

func ExamplePercentileScale() {
	y := exampleRun(NewPercentileScale(0, 50), exampleBytes(1, 5, 1, 0, 25, 100, 50, 200))[0]
	fmt.Printf("%v %.2f\n", y.Desc, tensor.View[float32](y))
	// Output: float32 HWC (1, 5, 1) [0.00 0.50 1.00 1.00 1.00]
}
