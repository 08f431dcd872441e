package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestHueMatrix compares with MXNet's matrices
// (testdata/gen/ops/mxnet_color.py).
func TestHueMatrix(t *testing.T) {
	b, err := os.ReadFile("testdata/hue_jitter/matrices.json")
	require.NoError(t, err)
	var rows [][]float64
	require.NoError(t, json.Unmarshal(b, &rows))
	require.Greater(t, len(rows), 200)
	for _, r := range rows {
		for i, v := range hueMatrix(r[0]) {
			require.Equal(t, float32(r[1+i]), v, "angle %v, number %d", r[0], i)
		}
	}
}

func TestHueJitter(t *testing.T) {
	for _, v := range []float64{-0.1, 1.1, math.NaN()} {
		refusesParam(t, "hue", NewHueJitter(v))
	}
	refusesInput(t, "want dtype", NewHueJitter(0.1), rgb8)
	refusesInput(t, "want [3] channels", NewHueJitter(0.1), rgb32.WithChannels(1))
}

// floatDraw is exampleDraw for a float32 image.
func floatDraw(op Random) OpList {
	ops, err := NewDraw(newContext()).Run(op, rng.NewKey(1, 0, "example").At(0), []tensor.Desc{rgb32}, nil)
	if err != nil {
		panic(err)
	}
	return ops
}

func ExampleHueJitter() {
	fmt.Println(InfoOf(floatDraw(NewHueJitter(0.1))[0]).Name)
	// Output: color_matrix
}
