package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomColor(t *testing.T) {
	refusesParam(t, "degrees is -1 to 3", NewRandomColor(-1, 3))
	refusesParam(t, "degrees is 2 to 1", NewRandomColor(2, 1))
	refusesParam(t, "backend is mxnet", &RandomColor{Range{1, 1}, MXNet})
	refusesInput(t, "want [3] channels", NewRandomColor(1, 1), rgb8.WithChannels(1))
	refusesInput(t, "want dtype", NewRandomColor(1, 1), rgb32)
	ops, err := NewDraw(newContext()).Run(&RandomColor{Range{0.5, 0.5}, Pillow}, rng.Key{}.At(0), []tensor.Desc{rgb8}, nil)
	require.NoError(t, err)
	require.Equal(t, []Op{NewAdjustSaturation(0.5)}, ops)
}

func ExampleRandomColor() {
	fmt.Println(exampleDraw(NewRandomColor(0.1, 1.9), 0))
	// Output: [{"op":"adjust_saturation","version":1,"params":{"factor":1.0035906508604222,"backend":"mindspore"}}]
}
