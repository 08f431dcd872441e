package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// divides reports whether the samples of a definition, in some order, do not
// depend on the number of ranks. They do below a batch, and in a mix that ends
// with one input.
func divides(d *dataset.Dataset) bool {
	switch n := d.Node.(type) {
	case *dataset.Batch:
		return false
	case *dataset.Mix:
		if !n.UntilAll {
			return false
		}
	}
	for _, in := range d.In {
		if !divides(in) {
			return false
		}
	}
	return true
}

// TestMerge merges the states of ranks at different places, with buffered
// samples and partly returned ones. Another number of ranks then returns
// exactly the remaining samples.
func TestMerge(t *testing.T) {
	tried, refused, exact := 0, 0, 0
	for seed := range graphs(t, 3000) {
		r := rand.New(rand.NewPCG(uint64(seed), 6))
		d := definition(r, r.IntN(5)+1)
		o := dataset.Options{
			Seed: uint64(seed), DropUneven: true,
			AllDone: func(_ context.Context, done bool) (bool, error) { return done, nil }, // ranks end independently
		}
		if !divides(d) {
			continue
		}
		one, err := dataset.Build(t.Context(), d, dataset.Options{Seed: uint64(seed)})
		if err != nil || one.Len() > most {
			continue
		}
		whole := rest(t, pull(t, one, nil), most+1)
		require.NoError(t, one.Close())
		if len(whole) > most {
			continue
		}
		world, next := r.IntN(3)+1, r.IntN(3)+1
		what := fmt.Sprintf("definition %d, %d ranks to %d: %s", seed, world, next, describe(d))
		all, err := ranks(t, d, world, o)
		require.NoError(t, err, what)
		var got [][]string
		var states []*dataset.State
		for _, b := range all {
			p := pull(t, b, nil)
			got = append(got, rest(t, p, r.IntN(len(whole)/world+1)))
			states = append(states, p.State())
			require.NoError(t, p.Close())
		}
		state, err := all[0].Merge(states...)
		if err != nil {
			// Ranks in different passes or epochs, and buffers above a node
			// that every rank reads as a whole, cannot be merged.
			require.ErrorIs(t, err, dataset.ErrState, what)
			refused++
			continue
		}
		if state.Epoch > 0 {
			continue // all ranks have ended
		}
		tried++
		others, err := ranks(t, d, next, o)
		require.NoError(t, err, what)
		left := len(whole)
		for _, l := range got {
			left -= len(l)
		}
		for _, b := range others {
			bytes, err := state.MarshalBinary()
			require.NoError(t, err)
			var again dataset.State
			require.NoError(t, again.UnmarshalBinary(bytes))
			p := parallel(t, b, 2, &again)
			l := rest(t, p, most+1)
			require.NoError(t, p.Close())
			got = append(got, l)
			left -= len(l)
		}
		have, want := counts(got...), counts(whole)
		for s, n := range have {
			require.LessOrEqual(t, n, want[s], "%s: sample %s is given again", what, s)
		}
		// In every pass, ranks drop the remainder of each source with an index.
		if mayDrop := (world + next - 2) * indexedSources(d) * 8; mayDrop > 0 {
			require.LessOrEqual(t, left, mayDrop, "%s: lost of %v: have %v", what, whole, got)
		} else {
			exact++
			require.Equal(t, want, have, what)
		}
	}
	t.Logf("%d definitions, of %d nothing may be left out; %d refused", tried, exact, refused)
	require.Greater(t, tried, graphs(t, 200))
}

func indexedSources(d *dataset.Dataset) int {
	if n, ok := d.Node.(*numbers); ok && !n.Stream {
		return 1
	}
	n := 0
	for _, in := range d.In {
		n += indexedSources(in)
	}
	return n
}

func TestMergeRefuses(t *testing.T) {
	b, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 9}), dataset.Options{World: 2})
	require.NoError(t, err)
	p := pull(t, b, nil)
	rest(t, p, 1)
	for _, l := range [][]*dataset.State{nil, {p.State()}, {p.State(), p.State()}} {
		_, err := b.Merge(l...)
		require.True(t, errors.Is(err, dataset.ErrState), "%v", err)
	}
}
