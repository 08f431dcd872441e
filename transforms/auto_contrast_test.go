package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAutoContrast(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 10, 7, 0, 20, 7, 255)
	want := []byte{0, 7, 0, 255, 7, 255}
	require.Equal(t, want, applyOne(t, NewAutoContrast(), x).Data)
	require.Equal(t, want, applyOne(t, &AutoContrast{Backend: MindSpore}, x).Data)
	want[3] = 254 // 10 / (10*float32(1./255)) is below 255
	require.Equal(t, want, applyOne(t, &AutoContrast{Backend: Torch}, x).Data)
	y := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 5, 1, 0, 50, 100, 150, 200)
	require.Equal(t, []byte{0, 0, 127, 255, 255}, applyOne(t, &AutoContrast{CutoffLow: 20, CutoffHigh: 20}, y).Data)
	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 3, 1, 0.25, 0.5, 0.75)
	require.Equal(t, []float32{0, 0.5, 1}, tensor.View[float32](applyOne(t, &AutoContrast{Backend: Torch}, f)))

	for _, v := range []float64{-1, 101, math.NaN()} {
		refusesParam(t, "cutoff_low", &AutoContrast{CutoffLow: v})
		refusesParam(t, "cutoff_high", &AutoContrast{CutoffHigh: v})
	}
	refusesParam(t, "ignore[1] is 256", &AutoContrast{Ignore: NumberList{0, 256}})
	refusesParam(t, "ignore[0] is 1.5", &AutoContrast{Ignore: NumberList{1.5}})
	refusesParam(t, "none with backend torch", &AutoContrast{Ignore: NumberList{1}, Backend: Torch})
	refusesParam(t, "cutoff_low 1", &AutoContrast{CutoffLow: 1, Backend: Torch})
	refusesParam(t, "want one number below 50", &AutoContrast{CutoffLow: 1, Backend: MindSpore})
	refusesParam(t, "want one number below 50", &AutoContrast{CutoffLow: 50, CutoffHigh: 50, Backend: MindSpore})
	refusesParam(t, "backend is opencv", &AutoContrast{Backend: OpenCV})
	refusesInput(t, "want dtype", NewAutoContrast(), rgb32)
	refusesInput(t, "want [1 3] channels", NewAutoContrast(), rgb8.WithChannels(4))
}

func ExampleAutoContrast() {
	fmt.Println(exampleRun(NewAutoContrast(), exampleBytes(1, 4, 1, 50, 60, 80, 101))[0].Data)
	// Output: [0 50 150 255]
}
