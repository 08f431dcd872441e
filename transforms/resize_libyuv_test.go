package transforms

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// TestResizeLibyuv scales between all sizes. The values stay within the
// image's, except that weights may sum to 127.
func TestResizeLibyuv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	side := func() int { return []int{1, 2, 3, 4, 6, 9, 12, 1 + r.IntN(60)}[r.IntN(8)] }
	for range 3000 {
		h, w, oh, ow, ch := side(), side(), side(), side(), 1+r.IntN(4)
		x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, h, w, ch))
		require.NoError(t, err)
		for i := range x.Data {
			x.Data[i] = 100
		}
		for _, v := range applyOne(t, NewResizeLibyuv(oh, ow), x).Data {
			require.True(t, v == 100 || v == 99, "%d x %d to %d x %d: %d", h, w, oh, ow, v)
		}
	}
	refusesParam(t, "height", NewResizeLibyuv(0, 1))
	refusesParam(t, "width", NewResizeLibyuv(1, 1<<15))
	refusesInput(t, "want dtype", NewResizeLibyuv(1, 1), rgb32)
	refusesInput(t, "want HWC", NewResizeLibyuv(1, 1), tensor.Image(tensor.Uint8, tensor.CHW, 3, 3, 3))
	refusesInput(t, "sides", NewResizeLibyuv(1, 1), tensor.Image(tensor.Uint8, tensor.HWC, 1, 1<<15, 3))
}
