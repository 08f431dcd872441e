package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestRandomChannelPermutation checks that all permutations are equally likely.
func TestRandomChannelPermutation(t *testing.T) {
	d := NewDraw(newContext())
	key := rng.NewKey(1, 1, "channels")
	for ch, perms := range []int{2: 2, 3: 6, 4: 24} {
		if perms == 0 {
			continue
		}
		const n = 4800
		counts := map[string]int{}
		for o := range uint64(n) {
			d.Begin()
			ops, err := d.Run(NewRandomChannelPermutation(), key.At(o), []tensor.Desc{rgb8.WithChannels(ch)}, nil)
			require.NoError(t, err)
			counts[fmt.Sprint(ops[0].(*ChannelPermutation).Permutation)]++
		}
		require.Len(t, counts, perms)
		for p, c := range counts {
			require.InDelta(t, n/perms, c, 5*math.Sqrt(float64(n/perms)), p)
		}
	}
	ops, err := d.Run(NewRandomChannelPermutation(), key.At(0), []tensor.Desc{rgb8.WithChannels(1)}, nil)
	require.NoError(t, err)
	require.Empty(t, ops)
	refusesInput(t, "want [1 2 3 4] channels", NewRandomChannelPermutation(), rgb8.WithChannels(5))
	refusesInput(t, "want an image", NewRandomChannelPermutation(), vector)
}

func ExampleRandomChannelPermutation() {
	fmt.Println(exampleDraw(NewRandomChannelPermutation(), 0))
	// Output: [{"op":"channel_permutation","version":1,"params":{"permutation":[2,0,1]}}]
}
