package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestLuma(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 200, 99, 50, 255, 255, 255)
	// White is 254.97 and truncated, because the image is not gray.
	require.Equal(t, []byte{123, 123, 123, 254, 254, 254}, applyOne(t, NewLuma(), x).Data)
	gray := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 1, 3, 0.5, 0.5, 0.5)
	require.Equal(t, gray.Data, applyOne(t, NewLuma(), gray).Data)
	refusesInput(t, "want [3] channels", NewLuma(), rgb8.WithChannels(4))
	refusesInput(t, "want dtype", NewLuma(), tensor.Image(tensor.Int32, tensor.HWC, 4, 4, 3))
}

func ExampleLuma() {
	fmt.Println(exampleRun(NewLuma(), exampleBytes(1, 2, 3, 255, 0, 0, 0, 0, 255))[0].Data)
	// Output: [76 76 76 29 29 29]
}
