package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAdjustHLS(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 255, 0, 0, 90, 90, 90)
	require.Equal(t, []byte{255, 1, 1, 90, 90, 90}, applyOne(t, NewAdjustHLS(0, 0, 0), x).Data, "red has a lightness of 127.5")
	require.Equal(t, []byte{1, 255, 1}, applyOne(t, NewAdjustHLS(60, 0, 0), x).Data[:3], "a third of the circle: green")
	require.Equal(t, []byte{255, 1, 1}, applyOne(t, NewAdjustHLS(255, 0, 0), x).Data[:3], "clamped to 180, which is 0")
	require.Equal(t, []byte{255, 255, 255, 255, 255, 255}, applyOne(t, NewAdjustHLS(0, 255, 0), x).Data)
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0}, applyOne(t, NewAdjustHLS(0, -255, 0), x).Data)
	require.Equal(t, []byte{128, 128, 128, 90, 90, 90}, applyOne(t, NewAdjustHLS(0, 0, -255), x).Data)

	refusesParam(t, "h is 256", NewAdjustHLS(256, 0, 0))
	refusesParam(t, "l is -256", NewAdjustHLS(0, -256, 0))
	refusesParam(t, "s is 300", NewAdjustHLS(0, 0, 300))
	refusesInput(t, "want dtype", NewAdjustHLS(0, 0, 0), rgb32)
	refusesInput(t, "want layout HWC", NewAdjustHLS(0, 0, 0), tensor.Image(tensor.Uint8, tensor.CHW, 4, 5, 3))
	refusesInput(t, "want [3] channels", NewAdjustHLS(0, 0, 0), rgb8.WithChannels(1))
}

func ExampleAdjustHLS() {
	fmt.Println(exampleRun(NewAdjustHLS(60, 0, 0), exampleBytes(1, 1, 3, 255, 0, 0))[0].Data)
	// Output: [1 255 1]
}
