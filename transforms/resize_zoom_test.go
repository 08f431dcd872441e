package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeZoom(t *testing.T) {
	// Not blurred; the outputs lie at -0.3, 0.1, 0.5, 0.9 and 1.3.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 1, 200)
	require.Equal(t, []uint8{61, 21, 101, 180, 140}, applyOne(t, NewResizeZoom(1, 5), x).Data)

	refusesParam(t, "height", NewResizeZoom(0, 4))
	refusesParam(t, "width", NewResizeZoom(4, 1<<24+1))
	refusesInput(t, "want an image", NewResizeZoom(1, 1), vector)
	var out [1]tensor.Desc
	for n, ok := range map[int]bool{1024: true, 1025: false} { // 4093 and 4097 weights
		err := NewResizeZoom(1, 1).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 1, n, 3)})
		if ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, "4097 weights along axis 1")
		}
	}
}

func ExampleResizeZoom() {
	fmt.Println(exampleRun(NewResizeZoom(2, 2), exampleBytes(4, 4, 1, 0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))[0].Data)
	// Output: [22 2 2 0]
}
