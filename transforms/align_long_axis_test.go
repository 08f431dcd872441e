package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAlignLongAxis(t *testing.T) {
	refusesParam(t, "height", NewAlignLongAxis(0, 1))
	refusesParam(t, "width", NewAlignLongAxis(1, 1<<24+1))
	refusesInput(t, "want an image", NewAlignLongAxis(2, 1), vector)
	for _, c := range []struct {
		height, width, h, w, oh, ow int
	}{
		{4, 3, 5, 9, 9, 5}, {4, 3, 9, 5, 9, 5}, {3, 4, 9, 5, 5, 9}, {3, 4, 5, 9, 5, 9}, {3, 3, 5, 9, 5, 9}, {3, 4, 5, 5, 5, 5},
		{4, 3, tensor.Unknown, 5, tensor.Unknown, tensor.Unknown}, {3, 3, tensor.Unknown, 5, tensor.Unknown, 5},
	} {
		var out [1]tensor.Desc
		require.NoError(t, NewAlignLongAxis(c.height, c.width).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.CHW, c.h, c.w, 3)}))
		require.Equal(t, tensor.Image(tensor.Uint8, tensor.CHW, c.oh, c.ow, 3), out[0], "%+v", c)
	}
}

func ExampleAlignLongAxis() {
	page := exampleRun(NewAlignLongAxis(2560, 1920), exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6))[0]
	fmt.Println(page.Shape, page.Data)
	// Output: (3, 2, 1) [4 1 5 2 6 3]
}
