package dataset_test

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// uneven is a source of numbers in shards.
type uneven struct {
	Lens    []int64 `json:"lens"`
	InOrder bool    `json:"in_order"`
}

func (u *uneven) Validate() error { return nil }

func (u *uneven) Open(context.Context, store.Opener) (dataset.Data, error) {
	return unevenRows{u}, nil
}

type unevenRows struct{ u *uneven }

func (r unevenRows) Columns() []dataset.Column { return int64Column }
func (r unevenRows) Close() error              { return nil }
func (r unevenRows) Ordered() bool             { return r.u.InOrder }
func (r unevenRows) Len() (n int64) {
	for _, l := range r.u.Lens {
		n += l
	}
	return n
}

func (r unevenRows) Shards() (l []int64) {
	n := int64(0)
	for _, m := range r.u.Lens {
		l = append(l, n)
		n += m
	}
	return l
}

func (r unevenRows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := s.Column("x").Reset(int64Column[0].Desc); err != nil {
		return err
	}
	tensor.View[int64](&s.Column("x").Tensor)[0] = i
	return nil
}

// of returns the shard of a row.
func (u *uneven) of(row int64) int {
	for i, n := range u.Lens {
		if row < n {
			return i
		}
		row -= n
	}
	panic("no such row")
}

func newUneven() *uneven {
	u := &uneven{}
	for i := range int64(40) {
		u.Lens = append(u.Lens, 20+(i*37)%50) // 20 to 69
	}
	u.Lens[7], u.Lens[20] = 0, 1
	return u
}

// numbersOf returns the numbers of an epoch.
func numbersOf(t *testing.T, p runner) (l []int64) {
	t.Helper()
	for {
		s, err := p.Next(t.Context())
		if err == io.EOF {
			return l
		}
		require.NoError(t, err)
		l = append(l, x(&s.Values[0].Tensor))
	}
}

// TestShuffleShards: an epoch has every sample once, in another order than the
// one before, and no window has samples of more shards than it must have.
func TestShuffleShards(t *testing.T) {
	u := newUneven()
	total := unevenRows{u}.Len()
	for _, c := range []struct{ window, lanes int64 }{{1, 1}, {10, 1}, {100, 1}, {100, 3}, {1 << 40, 1}, {64, 7}, {5, 5000}} {
		b, err := dataset.Build(t.Context(), dataset.Of(u).ShuffleShards(c.window, c.lanes), dataset.Options{Seed: 5})
		require.NoError(t, err)
		p := pull(t, b, nil)
		var before []int64
		for epoch := range 3 {
			got := numbersOf(t, p)
			sorted := slices.Sorted(slices.Values(got))
			require.Len(t, sorted, int(total), "window %d, %d lanes", c.window, c.lanes)
			for i, v := range sorted {
				require.EqualValues(t, i, v)
			}
			require.NotEqual(t, before, got, "epoch %d", epoch)
			before = got
			for lane := range c.lanes {
				var own []int64
				for k := lane; k < total; k += c.lanes {
					own = append(own, got[k])
				}
				seen := map[int]bool{} // shards that are finished in this lane
				last := map[int]bool{}
				for w := range slices.Chunk(own, int(min(c.window, total))) {
					shards := map[int]bool{}
					for _, row := range w {
						shards[u.of(row)] = true
						require.False(t, seen[u.of(row)], "shard %d after it was left", u.of(row))
					}
					// A shard has 20 samples or more, but for one that has 1.
					require.LessOrEqual(t, len(shards), len(w)/20+3)
					for s := range last {
						if !shards[s] {
							seen[s] = true
						}
					}
					last = shards
				}
			}
			require.NoError(t, p.NextEpoch())
		}
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
}

// TestShuffleShardsRanks: two ranks read their own shards; a state of them is
// resumed by three, and every sample is read once.
func TestShuffleShardsRanks(t *testing.T) {
	u := newUneven()
	u.Lens[20] += 2 - (unevenRows{u}.Len()+2)%3 // so that three ranks share the rest without a remainder
	total := unevenRows{u}.Len()
	d := dataset.Of(u).ShuffleShards(50, 6)
	one, err := dataset.Build(t.Context(), d, dataset.Options{Seed: 9})
	require.NoError(t, err)
	whole := numbersOf(t, pull(t, one, nil))
	require.NoError(t, one.Close())

	o := dataset.Options{Seed: 9, DropUneven: true}
	two, err := ranks(t, d, 2, o)
	require.NoError(t, err)
	const steps = 300
	seen := map[int64]int{}
	var state *dataset.State
	var of [2]map[int]bool
	for rank, b := range two {
		p := pull(t, b, nil)
		of[rank] = map[int]bool{}
		for range steps {
			s, err := p.Next(t.Context())
			require.NoError(t, err)
			row := x(&s.Values[0].Tensor)
			seen[row]++
			of[rank][u.of(row)] = true
		}
		state = p.State()
		require.NoError(t, p.Close())
	}
	both := 0
	for s := range of[0] {
		if of[1][s] {
			both++
		}
	}
	require.LessOrEqual(t, both, 6, "shards that both ranks read: those cut between lanes")
	three, err := ranks(t, d, 3, o)
	require.NoError(t, err)
	for _, b := range three {
		p := pull(t, b, state)
		for _, row := range numbersOf(t, p) {
			seen[row]++
		}
		require.NoError(t, p.Close())
	}
	require.Len(t, seen, int(total))
	for row, n := range seen {
		require.Equal(t, 1, n, "row %d", row)
	}
	for _, row := range whole {
		require.Equal(t, 1, seen[row], "row %d of the order of one rank", row)
	}
}

// TestShuffleShardsErrors: parameters, and sources without shards or order.
func TestShuffleShardsErrors(t *testing.T) {
	for _, n := range []*dataset.ShuffleShards{{Window: 0, Lanes: 1}, {Window: 1, Lanes: 0}, {Window: 1, Lanes: 1<<20 + 1}, {Window: -1, Lanes: 1}} {
		require.ErrorIs(t, n.Validate(), dataset.ErrParam)
	}
	fails := func(d *dataset.Dataset, want string) {
		t.Helper()
		_, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.ErrorIs(t, err, dataset.ErrDefinition)
		require.ErrorContains(t, err, want)
	}
	fails(dataset.Of(&numbers{N: 5, Stream: true}).ShuffleShards(1, 1), "random access")
	fails(dataset.Of(&numbers{N: 5}).Repeat(2).ShuffleShards(1, 1), "has no shards")
	ordered := func() *dataset.Dataset { u := newUneven(); u.InOrder = true; return dataset.Of(u) }
	fails(ordered().Shuffle(), "use ShuffleShards")
	fails(ordered().Concat(dataset.Of(&numbers{N: 5})).Shuffle(), "use ShuffleShards")
	fails(ordered().Sample(&dataset.RandomSampler{}), "use ShuffleShards")
	fails(ordered().Sample(&dataset.DistributedSampler{Shards: 2, Shuffle: true, Offset: -1}), "use ShuffleShards")
	for _, d := range []*dataset.Dataset{ordered().ShuffleShards(10, 1), ordered().Sample(&dataset.SequentialSampler{}), ordered().ShuffleBuffer(10)} {
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		require.NoError(t, b.Close())
	}
}
