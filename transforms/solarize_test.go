package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestSolarize(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 0, 99, 100, 101, 200, 255)
	require.Equal(t, []byte{0, 99, 155, 154, 55, 0}, applyOne(t, NewSolarize(100), x).Data)
	require.Equal(t, []byte{0, 99, 100, 154, 55, 0}, applyOne(t, NewSolarize(100.5), x).Data)
	require.Equal(t, []byte{0, 99, 155, 154, 200, 255}, applyOne(t, &Solarize{Range{100, 101}}, x).Data)
	require.Equal(t, x.Data, applyOne(t, NewSolarize(256), x).Data)

	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 3, 1, 0.25, 0.3, 1)
	require.Equal(t, []float32{0.25, 0.7, 0}, tensor.View[float32](applyOne(t, &Solarize{Range{0.3, 1}}, f)))

	refusesParam(t, "threshold is -1 to 255, want a range within 0 to 1e+06", NewSolarize(-1))
	refusesParam(t, "threshold is 2 to 1", &Solarize{Range{2, 1}})
	refusesInput(t, "want dtype", NewSolarize(1), tensor.Image(tensor.Uint16, tensor.HWC, 2, 2, 3))
	refusesInput(t, "want an image", NewSolarize(1), vector)
}

func ExampleSolarize() {
	fmt.Println(exampleRun(NewSolarize(128), exampleBytes(1, 2, 3, 200, 150, 100, 63, 64, 255))[0].Data)
	// Output: [55 105 100 63 64 0]
}
