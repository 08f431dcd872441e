package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestSmartResize(t *testing.T) {
	refusesParam(t, "factor", NewSmartResize(0, 1, 1))
	refusesParam(t, "min_pixels", NewSmartResize(1, 0, 1))
	refusesParam(t, "min_pixels", NewSmartResize(1, 1<<48+1, 1))
	refusesParam(t, "max_pixels", NewSmartResize(1, 1, 0))
	refusesParam(t, "max_pixels", NewSmartResize(1, 1, 1<<48+1))
	refusesParam(t, "interpolation", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Interpolation: Area})
	op := NewSmartResize(28, 56*56, 28*28*1280)
	refusesInput(t, "aspect ratio of 200.5, want at most 200", op, tensor.Image(tensor.Uint8, tensor.HWC, 401, 2, 3))
	refusesInput(t, "want sides of 1 to", NewSmartResize(1<<24, 1<<48, 1<<48), tensor.Image(tensor.Uint8, tensor.HWC, 1, 3, 3))
	refusesInput(t, "want dtype", op, tensor.Image(tensor.Int32, tensor.HWC, 4, 4, 3))
	require.NoError(t, NewSmartResize(1<<24, 1<<48, 1<<48).Validate())
	var out [1]tensor.Desc
	require.NoError(t, op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, 7, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, tensor.Unknown, 3), out[0])
}

func ExampleSmartResize() {
	fmt.Println(exampleRun(NewSmartResize(28, 56*56, 28*28*1280), exampleBytes(90, 150, 1, make([]byte, 90*150)...))[0].Shape)
	// Output: (84, 140, 1)
}
