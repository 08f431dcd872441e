package transforms

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRotate90(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 1, 2, 3, 4, 5, 6)
	for turns, want := range map[int][]byte{
		0: {1, 2, 3, 4, 5, 6}, 1: {3, 6, 2, 5, 1, 4}, 2: {6, 5, 4, 3, 2, 1}, 3: {4, 1, 5, 2, 6, 3},
		-1: {4, 1, 5, 2, 6, 3}, math.MaxInt: {4, 1, 5, 2, 6, 3}, math.MinInt: {1, 2, 3, 4, 5, 6},
	} {
		got := applyOne(t, NewRotate90(turns), x)
		require.Equal(t, want, got.Data, "%d turns", turns)
		require.Equal(t, 2+turns&1, got.Height())
	}
	refusesInput(t, "want an image", NewRotate90(1), vector)
	var out [1]tensor.Desc
	in := tensor.Image(tensor.Uint8, tensor.CHW, tensor.Unknown, 7, 3)
	require.NoError(t, NewRotate90(1).Infer(out[:], []tensor.Desc{in}))
	require.Equal(t, tensor.Image(tensor.Uint8, tensor.CHW, 7, tensor.Unknown, 3), out[0])
}
