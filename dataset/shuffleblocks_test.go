package dataset_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// TestShuffledBatches mixes whole batches in blocks of 3, resumes after every
// batch on both engines, and on another rank.
func TestShuffledBatches(t *testing.T) {
	d := dataset.Of(&numbers{N: 23, Stream: true}).Batch(2).ShuffleBuffer(3)
	b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: 4})
	require.NoError(t, err)
	require.EqualValues(t, dataset.Unknown, b.Len(), "a stream")
	p := pull(t, b, nil)
	want := rest(t, p, most)
	plain := []string{}
	for i := range 11 {
		plain = append(plain, fmt.Sprint([]int{2 * i, 2*i + 1}))
	}
	plain = append(plain, "[22]")
	require.NotEqual(t, plain, want)
	for i := 0; i < 12; i += 3 {
		require.ElementsMatch(t, plain[i:i+3], want[i:i+3])
	}
	require.NoError(t, p.NextEpoch())
	require.NotEqual(t, want, rest(t, p, most), "another order in each epoch")
	require.NoError(t, p.Close())
	for k := range len(want) + 1 {
		p := pull(t, b, nil)
		require.Equal(t, want[:k], rest(t, p, k))
		state := p.State()
		require.NoError(t, p.Close())
		for _, q := range []runner{pull(t, b, state), parallel(t, b, 2, state)} {
			require.Equal(t, state.Words, q.State().Words)
			require.Equal(t, want[k:], rest(t, q, len(want)-k))
			require.NoError(t, q.Close())
		}
	}
	require.NoError(t, b.Close())
}

// TestShuffledBatchesOfRanks checks that the state of one rank resumes the
// other, and that states within a block cannot be merged.
func TestShuffledBatchesOfRanks(t *testing.T) {
	d := dataset.Of(&numbers{N: 24}).Shuffle().Batch(2).ShuffleBuffer(3)
	all, err := ranks(t, d, 2, dataset.Options{Seed: 4})
	require.NoError(t, err)
	var want [][]string
	for _, b := range all {
		require.EqualValues(t, 6, b.Len())
		p := pull(t, b, nil)
		want = append(want, rest(t, p, most))
		require.NoError(t, p.Close())
	}
	require.NotEqual(t, want[0], want[1])
	for k := range 6 {
		var states []*dataset.State
		for _, b := range all {
			p := pull(t, b, nil)
			rest(t, p, k)
			states = append(states, p.State())
			require.NoError(t, p.Close())
		}
		p := parallel(t, all[1], 2, states[0])
		require.Equal(t, want[1][k:], rest(t, p, most))
		require.NoError(t, p.Close())
		_, err := all[0].Merge(states...)
		if k%3 == 0 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, dataset.ErrState)
		require.ErrorContains(t, err, "has returned a part of its buffer")
	}
}

// TestLanes checks that the next input takes the place of one that has ended.
func TestLanes(t *testing.T) {
	in := func(from, n int64) *dataset.Dataset { return dataset.Of(&numbers{From: from, N: n}) }
	d := dataset.Of(&dataset.Interleave{Block: 2, Lanes: 2}, in(0, 1), in(10, 5), in(20, 0), in(30, 2), in(40, 4))
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 12, b.Len())
	want := []string{"[0]", "[30]", "[10]", "[11]", "[31]", "[40]", "[12]", "[13]", "[41]", "[42]", "[14]", "[43]"}
	for k := range want {
		p := pull(t, b, nil)
		require.Equal(t, want[:k], rest(t, p, k))
		state := p.State()
		require.NoError(t, p.Close())
		q := parallel(t, b, 2, state)
		require.Equal(t, want[k:], rest(t, q, most))
		require.NoError(t, q.Close())
	}
	_, err = dataset.Build(t.Context(), dataset.Of(&dataset.Interleave{Block: 1, Lanes: -1}, in(0, 1)), dataset.Options{})
	require.ErrorContains(t, err, "-1 lanes, want 0 or more")
}
