package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestEraseNoise(t *testing.T) {
	x, err := tensor.New(tensor.Image(tensor.Float32, tensor.CHW, 100, 100, 3))
	require.NoError(t, err)
	y := tensor.View[float32](applyOne(t, NewEraseNoise(10, 0, 90, 100, 5), x))
	sum, squares := 0.0, 0.0
	for i, v := range y {
		require.Equal(t, i%10000 < 1000, v == 0)
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	const n = 27000
	require.InDelta(t, 0, sum/n, 5/math.Sqrt(n))
	require.InDelta(t, 1, squares/n, 5*math.Sqrt(2.0/n))
	s := rng.Key{5, 0}.At(101)
	require.Equal(t, float32(s.Normal()), y[1101])

	refusesParam(t, "left", NewEraseNoise(0, -1, 1, 1, 0))
	refusesInput(t, "want at least 4 x 6", NewEraseNoise(0, 0, 4, 6, 0), rgb32)
	refusesInput(t, "want dtype", NewEraseNoise(0, 0, 1, 1, 0), rgb8)
}

func ExampleEraseNoise() {
	fmt.Println(tensor.View[float32](exampleRun(NewEraseNoise(0, 1, 1, 1, 7), exampleFloats(1, 3, 1, 1, 2, 3))[0]))
	// Output: [1 1.4300277 3]
}
