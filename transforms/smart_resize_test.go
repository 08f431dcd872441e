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
	refusesParam(t, "interpolation", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Interpolation: Area, Frames: 1})
	op := NewSmartResize(28, 56*56, 28*28*1280)
	refusesInput(t, "aspect ratio of 200.5, want at most 200", op, tensor.Image(tensor.Uint8, tensor.HWC, 401, 2, 3))
	refusesInput(t, "want sides of 1 to", NewSmartResize(1<<24, 1<<48, 1<<48), tensor.Image(tensor.Uint8, tensor.HWC, 1, 3, 3))
	refusesInput(t, "want dtype", op, tensor.Image(tensor.Int32, tensor.HWC, 4, 4, 3))
	refusesParam(t, "rule", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Rule: 9, Frames: 1})
	refusesParam(t, "frames", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1})
	refusesParam(t, "frames", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Frames: 2})
	refusesParam(t, "frames", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Rule: SmartGLM4V, Frames: 33})
	refusesParam(t, "max_edge", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Frames: 1, MaxEdge: 1})
	refusesParam(t, "max_edge", &SmartResize{Factor: 1, MinPixels: 1, MaxPixels: 1, Frames: 1, MaxEdge: -1, Rule: SmartNeoMME})
	refusesParam(t, "factor", &SmartResize{Factor: 2, MinPixels: 1, MaxPixels: 1, Frames: 1, Rule: SmartNeoMME})
	big := tensor.Image(tensor.Uint8, tensor.HWC, 1<<24, 1<<24, 3)
	refusesInput(t, "want at most 2^53", &SmartResize{Factor: 1 << 24, MinPixels: 1, MaxPixels: 1, Rule: SmartPaddleOCRVL, Frames: 1}, tensor.Image(tensor.Uint8, tensor.HWC, 1, 100, 3))
	require.NoError(t, (&SmartResize{Factor: 28, MinPixels: 1, MaxPixels: 1 << 20, Rule: SmartGLM4V, Frames: 32}).Infer(make([]tensor.Desc, 1), []tensor.Desc{big}))
	refusesInput(t, "sides of at least 28", &SmartResize{Factor: 28, MinPixels: 1, MaxPixels: 1, Rule: SmartGLMImage, Frames: 1}, tensor.Image(tensor.Uint8, tensor.HWC, 30, 27, 3))
	refusesInput(t, "aspect ratio of 5.0, want at most 4", &SmartResize{Factor: 2, MinPixels: 1, MaxPixels: 1, Rule: SmartGLMImage, Frames: 1}, tensor.Image(tensor.Uint8, tensor.HWC, 50, 10, 3))
	require.NoError(t, NewSmartResize(1<<24, 1<<48, 1<<48).Validate())
	var out [1]tensor.Desc
	require.NoError(t, op.Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, 7, 3)}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, tensor.Unknown, 3), out[0])
}

func ExampleSmartResize() {
	fmt.Println(exampleRun(NewSmartResize(28, 56*56, 28*28*1280), exampleBytes(90, 150, 1, make([]byte, 90*150)...))[0].Shape)
	// Output: (84, 140, 1)
}
