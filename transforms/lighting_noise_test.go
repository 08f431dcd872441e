package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestLightingNoise(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 100, 100, 100, 0, 250, 255)
	require.Equal(t, x.Data, applyOne(t, NewLightingNoise([3]float64{}), x).Data)
	// 100 - 31.47, 100 - 32.21 and 100 - 32.36, truncated.
	require.Equal(t, []byte{68, 67, 67, 0, 217, 222}, applyOne(t, NewLightingNoise([3]float64{1, 0, 0}), x).Data)
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0}, applyOne(t, NewLightingNoise([3]float64{1e6, 0, 0}), x).Data)
	require.Equal(t, []byte{255, 255, 255, 255, 255, 255}, applyOne(t, NewLightingNoise([3]float64{-1e6, 0, 0}), x).Data)
	chw := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 1, 2, 3, 100, 0, 100, 250, 100, 255)
	require.Equal(t, []byte{68, 0, 67, 217, 67, 222}, applyOne(t, NewLightingNoise([3]float64{1, 0, 0}), chw).Data)

	// One Context serves changing parameters, as with a random op.
	c := newContext()
	for _, a := range []float64{1, 0, 1} {
		y, err := run(c, NewLightingNoise([3]float64{a}), x)
		require.NoError(t, err)
		require.Equal(t, byte(100-32*a), y[0].Data[0])
	}

	// The difference of red is -31.47.
	require.Equal(t, byte(69), applyOne(t, &LightingNoise{LightingAlpha{1}, MindSpore}, x).Data[0])
	require.Equal(t, byte(68), applyOne(t, &LightingNoise{LightingAlpha{1}, Pillow}, x).Data[0])
	refusesParam(t, "backend is torch", &LightingNoise{Backend: Torch})

	for i, v := range []float64{1.1e6, -1.1e6, math.NaN(), math.Inf(1)} {
		op := NewLightingNoise([3]float64{})
		op.Alpha[i%3] = v
		refusesParam(t, fmt.Sprintf("alpha[%d]", i%3), op)
	}
	refusesInput(t, "want dtype", NewLightingNoise([3]float64{}), rgb32)
	refusesInput(t, "want [3] channels", NewLightingNoise([3]float64{}), rgb8.WithChannels(4))
	for _, text := range []string{"[]", "[1,2]", "[1,2,3,4]"} {
		var a LightingAlpha
		require.ErrorIs(t, json.Unmarshal([]byte(text), &a), ErrParam, text)
	}
}

func ExampleLightingNoise() {
	fmt.Println(exampleRun(NewLightingNoise([3]float64{0.1, 0, 0}), exampleBytes(1, 1, 3, 100, 100, 100))[0].Data)
	// Output: [96 96 96]
}
