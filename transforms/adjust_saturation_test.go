package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustSaturation(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 200, 99, 50) // gray is 124
	require.Equal(t, []byte{124, 124, 124}, applyOne(t, NewAdjustSaturation(0), x).Data)
	require.Equal(t, []byte{255, 74, 0}, applyOne(t, NewAdjustSaturation(2), x).Data)
	gray := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 3, 4)
	require.Equal(t, gray.Data, applyOne(t, NewAdjustSaturation(2), gray).Data)
	refusesParam(t, "backend", &AdjustSaturation{1, 9})
	refusesParam(t, "backend", &AdjustSaturation{1, OpenCV4})
	red := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 3, 255, 0, 0)
	require.Equal(t, []byte{29, 29, 29}, applyOne(t, &AdjustSaturation{0, MXNet}, red).Data, "red has blue's weight")
	refusesInput(t, "want dtype", NewAdjustSaturation(1), rgb32)
}

func ExampleAdjustSaturation() {
	fmt.Println(exampleRun(NewAdjustSaturation(2), exampleBytes(1, 1, 3, 200, 99, 50))[0].Data)
	// Output: [255 74 0]
}
