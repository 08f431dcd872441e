package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAntialiasBlur(t *testing.T) {
	refusesParam(t, "height", NewAntialiasBlur(0, 4))
	for _, c := range []struct {
		h, w, height, width int
		taps                [2]int // along the rows and the columns; 0 for no blur
	}{
		{960, 960, 960, 960, [2]int{}}, {961, 961, 960, 960, [2]int{3, 3}}, {1920, 1920, 960, 960, [2]int{5, 5}}, {2880, 1920, 960, 960, [2]int{7, 5}},
		{1920, 960, 960, 960, [2]int{}}, {100, 5000, 960, 960, [2]int{}},
	} {
		b, ok, err := NewAntialiasBlur(c.height, c.width).blur(c.h, c.w)
		require.NoError(t, err)
		require.Equal(t, c.taps[0] > 0, ok, "%v", c)
		if ok {
			require.Equal(t, c.taps, [2]int{b.KernelWidth, b.KernelHeight}, "%v", c)
			require.NoError(t, b.Validate())
		}
	}
	var out [1]tensor.Desc
	for _, h := range []int{9, 5000} { // half a kernel, and too many taps
		require.ErrorIs(t, NewAntialiasBlur(1, 1).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, h, h, 3)}), ErrInput)
	}
}

func ExampleAntialiasBlur() {
	fmt.Println(exampleRun(NewAntialiasBlur(2, 2), exampleBytes(4, 4, 1, 0, 0, 0, 0, 0, 90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))[0].Data)
	// Output: [4 15 2 0 15 56 8 0 2 8 1 0 0 0 0 0]
}
