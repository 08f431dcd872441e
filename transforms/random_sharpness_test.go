package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomSharpness(t *testing.T) {
	refusesParam(t, "degrees is -1 to 3", NewRandomSharpness(-1, 3))
	refusesParam(t, "degrees is 2 to 1", NewRandomSharpness(2, 1))
	refusesParam(t, "backend is mindspore", &RandomSharpness{Range{1, 1}, MindSpore})
	refusesInput(t, "want [1 3] channels", NewRandomSharpness(1, 1), rgb8.WithChannels(4))
	ops, err := NewDraw(newContext()).Run(&RandomSharpness{Range{0.5, 0.5}, Pillow}, rng.Key{}.At(0), []tensor.Desc{rgb8}, nil)
	require.NoError(t, err)
	require.Equal(t, []Op{NewAdjustSharpness(0.5)}, ops)
}

func ExampleRandomSharpness() {
	fmt.Println(exampleDraw(NewRandomSharpness(0.1, 1.9), 0))
	// Output: [{"op":"adjust_sharpness","version":1,"params":{"factor":1.0035906508604222,"backend":"opencv"}}]
}
