package dataset_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// spoil returns d with bad rows in its sources, and makes streams rows.
func spoil(d *dataset.Dataset, every int64) *dataset.Dataset {
	in := make([]*dataset.Dataset, len(d.In))
	for i := range in {
		in[i] = spoil(d.In[i], every)
	}
	if n, ok := d.Node.(*numbers); ok {
		return dataset.Of(&numbers{From: n.From, N: n.N, Bad: every})
	}
	return dataset.Of(d.Node, in...)
}

// outcome is what a run returned and reported, in its order.
func outcome(t *testing.T, p runner, told *[]string, most int) (samples, reports []string, err error) {
	t.Helper()
	*told = nil
	samples, err = upTo(t, p, most)
	return samples, *told, err
}

// TestReplacedAlike checks that ReplaceOnError returns the same samples and
// reports in both engines, with all passes or none, after any resume; that
// lengths are those of good data; and that every bad sample has a replacement.
func TestReplacedAlike(t *testing.T) {
	bad, failed, tried := 0, 0, 0
	for seed := range graphs(t, 240) {
		r := rand.New(rand.NewPCG(uint64(seed), 6))
		d := spoil(definition(r, r.IntN(5)+1), int64(r.IntN(5)+2))
		if r.IntN(3) == 0 {
			d = d.Batch(r.IntN(5) + 1)
		}
		var told []string
		o := dataset.Options{Seed: uint64(seed), OnError: dataset.ReplaceOnError, MaxSkips: -1}
		o.OnSkip = func(e *dataset.SampleError) {
			require.NotEmpty(t, e.Replacement)
			require.ErrorIs(t, e, errTrouble)
			told = append(told, fmt.Sprint(e.Path, e.Key, e.Epoch, e.Ordinal, e.Replacement))
		}
		b, err := dataset.Build(t.Context(), d, o)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrDefinition)
			continue
		}
		what := fmt.Sprintf("definition %d: %s", seed, describe(d))
		p := pull(t, b, nil)
		want, wantTold, wantErr := outcome(t, p, &told, most)
		state := p.State()
		require.NoError(t, p.Close())
		tried++
		bad += len(wantTold)
		if wantErr != nil { // no row is good
			failed++
			var e *dataset.SampleError
			require.ErrorAs(t, wantErr, &e, what)
			require.ErrorContains(t, wantErr, "no sample replaces it", what)
		} else if n := b.Len(); n >= 0 && len(want) < most {
			require.Len(t, want, int(n), what)
		}
		for name, q := range engines(t, b, nil) {
			l, reports, err := outcome(t, q, &told, most)
			require.Equal(t, want, l, "%s: %s", what, name)
			if wantErr != nil {
				require.EqualError(t, err, wantErr.Error(), "%s: %s", what, name)
				require.Equal(t, state, q.State(), "%s: %s", what, name)
			}
			require.Equal(t, wantTold, reports, "%s: %s", what, name)
			require.NoError(t, q.Close())
		}
		k := r.IntN(len(want) + 1)
		first := parallel(t, b, 2, nil)
		l, before, _ := outcome(t, first, &told, k)
		require.Equal(t, want[:k], l, what)
		require.NoError(t, first.Close())
		second := pull(t, b, first.State())
		if r.IntN(2) == 0 {
			second = parallel(t, b, 3, first.State())
		}
		l, after, _ := outcome(t, second, &told, most-k)
		require.Equal(t, want[k:], l, "%s: resumed after %d", what, k)
		require.Subset(t, append(before, after...), wantTold, "%s: resumed after %d", what, k)
		require.NoError(t, second.Close())
		require.NoError(t, b.Close())

		o.Disable = dataset.Passes()
		b, err = dataset.Build(t.Context(), d, o)
		require.NoError(t, err)
		p = pull(t, b, nil)
		l, _, err = outcome(t, p, &told, most)
		require.Equal(t, want, l, "%s: without passes", what)
		require.Equal(t, wantErr == nil, err == nil, "%s: without passes", what)
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
	t.Logf("%d definitions, %d bad samples replaced, %d runs without a good row", tried, bad, failed)
	require.Positive(t, bad)
	require.Less(t, failed, tried/2)
}

// TestReplacement checks what replaces a bad sample: another row, with the
// random numbers of the bad one's place, and that ranks agree.
func TestReplacement(t *testing.T) {
	var told []*dataset.SampleError
	o := dataset.Options{Seed: 3, OnError: dataset.ReplaceOnError, OnSkip: func(e *dataset.SampleError) { told = append(told, e) }}
	// The function returns row*1000 + a number of the place.
	d := dataset.Of(&numbers{N: 20, Bad: 5}).MapFunc(func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if x(src[0]) == 8 {
			return errors.New("eight")
		}
		if err := dst[0].Reset(src[0].Desc); err != nil {
			return err
		}
		tensor.View[int64](&dst[0].Tensor)[0] = x(src[0])*1000 + int64(c.Ordinal)
		return nil
	}, []string{"x"}, int64Column...)
	b, err := dataset.Build(t.Context(), d, o)
	require.NoError(t, err)
	defer b.Close()
	require.EqualValues(t, 20, b.Len())
	p := pull(t, b, nil)
	defer p.Close()
	whole := rest(t, p, most)
	require.Len(t, whole, 20)
	require.Len(t, told, 5) // 1, 6, 8, 11 and 16
	for i, s := range whole {
		var got int
		_, err := fmt.Sscanf(s, "[%d]", &got)
		require.NoError(t, err)
		require.Equal(t, i, got%1000, "the place")
		if i%5 != 1 && i != 8 {
			require.Equal(t, i, got/1000)
			continue
		}
		require.NotEqual(t, 1, got/1000%5)
		require.NotEqual(t, 8, got/1000)
		e := told[0]
		told = told[1:]
		require.EqualValues(t, i, e.Ordinal)
		require.Equal(t, fmt.Sprint("number ", i), e.Key)
		require.Equal(t, fmt.Sprint("number ", got/1000), e.Replacement)
		require.True(t, strings.HasSuffix(e.Error(), fmt.Sprintf("; replaced by %q", e.Replacement)), e.Error())
	}
	l, err := ranks(t, d, 3, o)
	require.NoError(t, err)
	for rank, b := range l {
		q := parallel(t, b, 2, nil)
		for j, s := range rest(t, q, most) {
			require.Equal(t, whole[(3*j+rank)%20], s, "rank %d", rank)
		}
		require.NoError(t, q.Close())
	}
}

// TestReplacedInCaches checks that a cache below changes no replacement, and
// that a buffer's samples are replaced again when a run resumes.
func TestReplacedInCaches(t *testing.T) {
	plain := func() *dataset.Dataset { return dataset.Of(&numbers{N: 40, Bad: 4}) }
	noise := func(d *dataset.Dataset) *dataset.Dataset {
		return dataset.Of(&dataset.Func{Name: "test/noise", In: []string{"x"}, Out: []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}}, d.Shuffle())
	}
	o := dataset.Options{Seed: 2, OnError: dataset.ReplaceOnError}
	var want []string
	for _, c := range []struct {
		name string
		d    *dataset.Dataset
	}{
		{"no cache", noise(plain())}, {"cache", noise(plain().Cache(1 << 20))}, {"file cache", noise(plain().FileCache(t.TempDir()+"/c", 1<<20))},
	} {
		b, err := dataset.Build(t.Context(), c.d, o)
		require.NoError(t, err)
		for name, p := range engines(t, b, nil) {
			for epoch := range 2 {
				l := rest(t, p, most)
				require.Len(t, l, 40)
				if want = append(want, l...); len(want) > 80 {
					require.Equal(t, want[40*epoch:40*epoch+40], l, "%s: %s: epoch %d", c.name, name, epoch)
					want = want[:80]
				}
				require.NoError(t, p.NextEpoch())
			}
			require.NoError(t, p.Close())
		}
		require.NoError(t, b.Close())
	}
	b, err := dataset.Build(t.Context(), noise(plain()).ShuffleBuffer(15), o)
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	whole := rest(t, p, most)
	require.NoError(t, p.Close())
	for k := range 40 {
		first := parallel(t, b, 2, nil)
		rest(t, first, k)
		require.NoError(t, first.Close())
		second := pull(t, b, first.State())
		require.Equal(t, whole[k:], rest(t, second, most), "after %d", k)
		require.NoError(t, second.Close())
	}
}

// TestReplacementRefused checks the cases without a replacement.
func TestReplacementRefused(t *testing.T) {
	o := dataset.Options{OnError: dataset.ReplaceOnError}
	_, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 9, Stream: true}).Batch(2), o)
	require.ErrorIs(t, err, dataset.ErrDefinition)
	require.ErrorContains(t, err, "dataset: batch/test/numbers: invalid definition: a stream has no other rows")
	_, err = dataset.Build(t.Context(), dataset.Of(&numbers{N: 9}), dataset.Options{OnError: dataset.ReplaceOnError + 1})
	require.ErrorIs(t, err, dataset.ErrParam)

	fails := func() dataset.BatchFunc {
		return func(c *dataset.Call, _ []*dataset.Sample) error { return errTrouble }
	}
	for name, c := range map[string]struct {
		d    *dataset.Dataset
		o    dataset.Options
		want string
	}{
		"all are bad":     {dataset.Of(&numbers{N: 300, Bad: 1}).Shuffle(), o, "trouble; no sample replaces it: 100 others are bad too"},
		"the only row":    {dataset.Of(&numbers{From: 1, N: 1, Bad: 2}), o, "trouble; no sample replaces it: 0 others are bad too"},
		"too many":        {dataset.Of(&numbers{N: 3000, Bad: 2}), dataset.Options{OnError: dataset.ReplaceOnError, MaxSkipShare: 0.1}, "samples are bad, want a share of at most 0.1"},
		"above the index": {dataset.Of(&numbers{N: 9}).BatchFunc(2, fails()), o, `dataset: batch: sample "number 0" (epoch 0, ordinal 0): trouble`},
	} {
		b, err := dataset.Build(t.Context(), c.d, c.o)
		require.NoError(t, err)
		for engine, p := range engines(t, b, nil) {
			_, err = upTo(t, p, 5000)
			require.ErrorContains(t, err, c.want, "%s: %s", name, engine)
			require.NoError(t, p.Close())
		}
		require.NoError(t, b.Close())
	}
	// An endless order replaces from near places.
	b, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 10, Bad: 3}).Shuffle().Repeat(0).Take(100), o)
	require.NoError(t, err)
	defer b.Close()
	p := pull(t, b, nil)
	defer p.Close()
	require.Len(t, rest(t, p, most), 100)
	b2, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 10, Bad: 3}).Shuffle().Repeat(0), o)
	require.NoError(t, err)
	defer b2.Close()
	q := parallel(t, b2, 2, nil)
	defer q.Close()
	require.Len(t, rest(t, q, most), most)
}
