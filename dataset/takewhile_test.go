package dataset_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// below returns a TakeWhile of the samples below n.
func below(n int64, d *dataset.Dataset) *dataset.Dataset {
	return d.TakeWhile(func(_ *dataset.Call, src []*tensor.Tensor) (bool, error) { return x(src[0]) < n, nil }, "x")
}

func TestTakeWhile(t *testing.T) {
	values := func(d *dataset.Dataset) []string {
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		defer b.Close()
		require.Equal(t, dataset.Unknown, b.Len())
		p, q := pull(t, b, nil), parallel(t, b, 3, nil)
		defer p.Close()
		defer q.Close()
		l := rest(t, p, most)
		require.Equal(t, l, rest(t, q, most))
		return l
	}
	from := func(first, n int64) *dataset.Dataset { return dataset.Of(&numbers{From: first, N: n}) }
	for want, d := range map[string]*dataset.Dataset{
		`["[0]","[1]","[2]"]`:             below(3, from(0, 10)),
		`["[0]","[1]"]`:                   below(3, from(0, 2)),
		`[]`:                              below(3, from(5, 9)),
		`["[0]","[1]","[0]","[1]"]`:       below(2, from(0, 9)).Repeat(2),
		`["[7]","[0]","[1]","[4]","[5]"]`: from(7, 1).Concat(below(2, from(0, 9).Concat(from(0, 1))), from(4, 2)), // not the later 0
	} {
		got, err := json.Marshal(values(d))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// TestTakeWhileErrors checks invalid definitions, and a predicate that fails.
func TestTakeWhileErrors(t *testing.T) {
	require.ErrorIs(t, (&dataset.TakeWhile{Name: "test/nobody"}).Validate(), dataset.ErrParam)
	src := dataset.Of(&numbers{N: 9})
	_, err := dataset.Build(t.Context(), dataset.Of(&dataset.TakeWhile{Name: "test/some", In: []string{"y"}}, src), dataset.Options{})
	require.ErrorIs(t, err, dataset.ErrDefinition)
	_, err = json.Marshal(below(1, src))
	require.ErrorIs(t, err, dataset.ErrUnknownNode)

	bad := errors.New("bad")
	d := src.TakeWhile(func(_ *dataset.Call, src []*tensor.Tensor) (bool, error) {
		if x(src[0]) == 2 {
			return false, bad
		}
		return x(src[0]) < 4, nil
	}, "x")
	b, err := dataset.Build(t.Context(), d, dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	defer p.Close()
	require.Equal(t, []string{"[0]", "[1]", "[3]"}, rest(t, p, most))

	b, err = dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	defer b.Close()
	q := pull(t, b, nil)
	defer q.Close()
	require.Equal(t, []string{"[0]", "[1]"}, rest(t, q, 2))
	_, err = q.Next(t.Context())
	require.ErrorIs(t, err, bad)
	again := pull(t, b, q.State()) // has the failed sample next
	defer again.Close()
	_, err = again.Next(t.Context())
	require.ErrorIs(t, err, bad)
}

// TestTakeWhileResumes stops and resumes random definitions with a TakeWhile
// after every sample, with its written form, and on several ranks.
func TestTakeWhileResumes(t *testing.T) {
	cut, resumed := 0, 0
	for seed := range 400 {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		one := definition(r, r.IntN(3)+1)
		d := dataset.Of(&dataset.TakeWhile{Name: "test/some", In: []string{"x"}}, one)
		if r.IntN(3) == 0 {
			d = d.ShuffleBuffer(3)
		}
		text, err := json.Marshal(d)
		require.NoError(t, err)
		d = &dataset.Dataset{}
		require.NoError(t, json.Unmarshal(text, d))
		o := dataset.Options{Seed: uint64(seed), DropUneven: true, AllDone: func(_ context.Context, done bool) (bool, error) { return done, nil }}
		b, err := dataset.Build(t.Context(), d, o)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrDefinition)
			continue
		}
		what := describe(d)
		p := pull(t, b, nil)
		want := rest(t, p, 40)
		require.NoError(t, p.Close())
		for k := range want {
			first := pull(t, b, nil)
			require.Equal(t, want[:k], rest(t, first, k), what)
			second := parallel(t, b, 2, first.State())
			require.Equal(t, want[k:], rest(t, second, len(want)-k), "%s: resumed after %d", what, k)
			require.NoError(t, first.Close())
			require.NoError(t, second.Close())
		}
		require.NoError(t, b.Close())
		if len(want) == 0 || len(want) == 40 {
			continue
		}
		cut++
		// Three ranks return all samples together, also after some of each rank
		// with one rank for the rest.
		var whole, merged []string
		var states []*dataset.State
		for rank := range 3 {
			o.Rank, o.World = rank, 3
			b, err := dataset.Build(t.Context(), d, o)
			require.NoError(t, err)
			p := pull(t, b, nil)
			some := rest(t, p, r.IntN(4))
			states = append(states, p.State())
			merged = append(merged, some...)
			whole = append(append(whole, some...), rest(t, p, most)...)
			require.NoError(t, p.Close())
			require.NoError(t, b.Close())
		}
		require.ElementsMatch(t, want, whole, what)
		o.Rank, o.World = 0, 1
		b, err = dataset.Build(t.Context(), d, o)
		require.NoError(t, err)
		if state, err := b.Merge(states...); err == nil && state.Epoch == 0 { // no rank was at the end
			p := pull(t, b, state)
			require.ElementsMatch(t, want, append(merged, rest(t, p, most)...), "%s: merged", what)
			require.NoError(t, p.Close())
			resumed++
		}
		require.NoError(t, b.Close())
	}
	t.Logf("%d definitions, %d merged", cut, resumed)
	require.Greater(t, min(cut, resumed), 40/2)
}
