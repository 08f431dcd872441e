package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestHeightRatio(t *testing.T) {
	image := blank(t, tensor.Image(tensor.Uint8, tensor.HWC, 3, 5, 1))
	for h, ok := range map[int64]bool{1: true, 0: false, -3: false, 1 << 25: false} {
		size := blank(t, tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)})
		tensor.View[int64](size)[0] = h
		_, err := run(NewContext(codec.DefaultLimits()), NewHeightRatio(), image, size)
		if ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrInput, "%d", h)
		}
	}
}

func ExampleHeightRatio() {
	size := exampleRun(NewImageSize(), exampleBytes(4, 1, 1, 1, 2, 3, 4))[0]
	fmt.Println(tensor.View[float64](exampleRun(NewHeightRatio(), exampleBytes(1, 1, 1, 1), size)[0]))
	// Output: [0.25]
}
