package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCropMargin(t *testing.T) {
	refusesParam(t, "threshold", &CropMargin{})
	refusesParam(t, "threshold", &CropMargin{Threshold: 256})
	refusesParam(t, "backend", &CropMargin{Threshold: 200, Backend: OpenCV})
	refusesInput(t, "want [3] channels", NewCropMargin(), rgb8.WithChannels(1))
	refusesInput(t, "want dtype", NewCropMargin(), rgb32)
	flat := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 9, 9, 9, 9, 9, 9)
	require.Equal(t, flat.Desc, applyOne(t, NewCropMargin(), flat).Desc)
}

func ExampleCropMargin() {
	// A white page with one black pixel.
	page := make([]uint8, 4*5*3)
	for i := range page {
		page[i] = 255
	}
	for i := range 3 {
		page[(2*5+1)*3+i] = 0
	}
	y := exampleRun(NewCropMargin(), exampleBytes(4, 5, 3, page...))[0]
	fmt.Println(y.Shape, y.Data)
	// Output: (1, 1, 3) [0 0 0]
}
