package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeToCrops(t *testing.T) {
	refusesParam(t, "crop", NewResizeToCrops(1, 0, 8))
	refusesParam(t, "margin", NewResizeToCrops(9, 9, 8))
	refusesParam(t, "margin", NewResizeToCrops(9, -1, 8))
	refusesParam(t, "max_crops", NewResizeToCrops(9, 3, 1025))
	for _, r := range readSizeRules[[6]int](t, "resize_to_crops", "sizes.json") {
		op, err := UnmarshalParams("resize_to_crops", 1, r.Params)
		require.NoError(t, err)
		for _, s := range r.Sizes {
			rows, columns, h, w, err := op.(*ResizeToCrops).canvas(s[0], s[1])
			require.NoError(t, err)
			require.Equal(t, s, [6]int{s[0], s[1], h, w, rows, columns}, "%s %v", r.Params, s)
		}
	}
}

func ExampleResizeToCrops() {
	out := exampleRun(NewResizeToCrops(4, 1, 8), exampleBytes(4, 8, 1, make([]byte, 32)...))
	fmt.Println(out[0].Shape, tensor.View[int64](out[1])[:2])
	// Output: (4, 10, 1) [1 3]
}
