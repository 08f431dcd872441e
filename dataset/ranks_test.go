package dataset_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
)

// ranks builds a definition for each of world ranks.
func ranks(t *testing.T, d *dataset.Dataset, world int, o dataset.Options) ([]*dataset.Built, error) {
	t.Helper()
	var l []*dataset.Built
	for r := range world {
		o.Rank, o.World = r, world
		b, err := dataset.Build(t.Context(), d, o)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		l = append(l, b)
	}
	return l, nil
}

// counts returns how often each sample occurs.
func counts(ls ...[]string) map[string]int {
	m := map[string]int{}
	for _, l := range ls {
		for _, s := range l {
			m[s]++
		}
	}
	return m
}

// TestRanks checks definitions with an index. The samples of all ranks in turn
// are those of one rank, in its order. Ranks with one sample less repeat a
// first one, or the remainder is dropped. A state of any rank resumes any
// number of ranks.
func TestRanks(t *testing.T) {
	tried := 0
	for seed := range graphs(t, 1500) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		o := dataset.Options{Seed: uint64(seed), DropUneven: r.IntN(2) == 0}
		d := definition(r, r.IntN(4)+1)
		one, err := dataset.Build(t.Context(), d, o)
		if err != nil {
			continue
		}
		world := r.IntN(3) + 2
		if n := one.Len(); n < 0 || n > most {
			_, err := ranks(t, d, world, o)
			if n == dataset.Unknown {
				require.ErrorIs(t, err, dataset.ErrDefinition, describe(d))
			}
			require.NoError(t, one.Close())
			continue
		}
		tried++
		what := fmt.Sprintf("definition %d, %d ranks: %s", seed, world, describe(d))
		whole := rest(t, pull(t, one, nil), most+1)
		require.NoError(t, one.Close())
		all, err := ranks(t, d, world, o)
		if err != nil { // several ranks cannot end together
			require.ErrorIs(t, err, dataset.ErrDefinition, what)
			continue
		}
		each := len(whole) / world
		if !o.DropUneven {
			each = (len(whole) + world - 1) / world
		}
		for rank, b := range all {
			p := parallel(t, b, 2, nil)
			got := rest(t, p, most+1)
			require.NoError(t, p.Close())
			require.Equal(t, int(b.Len()), len(got), "%s, rank %d", what, rank)
			if indexed(d) {
				require.Len(t, got, each, "%s, rank %d", what, rank)
				for j, s := range got {
					require.Equal(t, whole[(j*world+rank)%len(whole)], s, "%s, rank %d, sample %d", what, rank, j)
				}
			}
		}
		if each == 0 || !indexed(d) {
			continue
		}
		// Stop after some steps and resume with another number of ranks.
		steps := r.IntN(each + 1)
		state := (*dataset.State)(nil)
		for rank, b := range all {
			p := pull(t, b, nil)
			require.Len(t, rest(t, p, steps), steps)
			if state == nil || r.IntN(2) == 0 {
				state = p.State()
				require.Equal(t, rank, state.Rank)
			}
			require.NoError(t, p.Close())
		}
		next := r.IntN(4) + 1
		others, err := ranks(t, d, next, o)
		require.NoError(t, err, what)
		left := whole[min(steps*world, len(whole)):]
		for rank, b := range others {
			if next == world && rank != state.Rank {
				continue // equally many ranks need their own states
			}
			got := rest(t, pull(t, b, state), most+1)
			for j, s := range got {
				want := whole[((steps+j)*world+rank)%len(whole)]
				if next != world {
					want = left[(j*next+rank)%len(left)]
				}
				require.Equal(t, want, s, "%s: after %d steps, rank %d of %d, sample %d", what, steps, rank, next, j)
			}
			if next == world {
				require.Len(t, got, each-steps, what)
			} else if o.DropUneven {
				require.Len(t, got, len(left)/next, what)
			} else {
				require.Len(t, got, (len(left)+next-1)/next, what)
			}
		}
	}
	t.Logf("%d definitions", tried)
	require.Greater(t, tried, graphs(t, 300))
}

// indexed reports whether all of the definition has an index.
func indexed(d *dataset.Dataset) bool {
	switch n := d.Node.(type) {
	case *numbers:
		return !n.Stream
	case *dataset.Filter, *dataset.FlatMap, *dataset.ShuffleBuffer, *dataset.Mix, *dataset.Interleave, *dataset.Batch, *dataset.Unbatch:
		return false
	}
	for _, in := range d.In {
		if !indexed(in) {
			return false
		}
	}
	return true
}

// together is an AllDone for goroutines that act as ranks.
type together struct {
	mu   sync.Mutex
	cond *sync.Cond
	n    int
	here int
	done bool
	turn int
	said map[int]bool
}

func newTogether(n int) *together {
	g := &together{n: n, said: map[int]bool{}}
	g.cond = sync.NewCond(&g.mu)
	return g
}

func (g *together) allDone(_ context.Context, done bool) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done = g.done || done
	turn := g.turn
	if g.here++; g.here == g.n {
		g.said[turn] = g.done
		g.here, g.done = 0, false
		g.turn++
		g.cond.Broadcast()
	}
	for g.turn == turn {
		g.cond.Wait()
	}
	return g.said[turn], nil
}

// TestRanksEndTogether checks that AllDone gives all ranks equally many
// samples, without repetition, where lengths depend on the data.
func TestRanksEndTogether(t *testing.T) {
	tried := 0
	for seed := range graphs(t, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		d := definition(r, r.IntN(4)+1).Take(100)
		o := dataset.Options{Seed: uint64(seed), DropUneven: true}
		one, err := dataset.Build(t.Context(), d, o)
		if err != nil {
			continue
		}
		whole := counts(rest(t, pull(t, one, nil), 1000))
		require.NoError(t, one.Close())
		const world = 3
		g := newTogether(world)
		o.AllDone = g.allDone
		all, err := ranks(t, d, world, o)
		require.NoError(t, err)
		tried++
		got := make([][]string, world)
		var group sync.WaitGroup
		for rank, b := range all {
			p := parallel(t, b, 2, nil)
			group.Go(func() { got[rank] = rest(t, p, 1000) })
			defer p.Close()
		}
		group.Wait()
		for rank := range all {
			require.Len(t, got[rank], len(got[0]), "%s, rank %d", describe(d), rank)
		}
		for s, n := range counts(got...) {
			require.LessOrEqual(t, n, whole[s], "%s: sample %s", describe(d), s)
		}
	}
	require.Greater(t, tried, graphs(t, 100))
}
