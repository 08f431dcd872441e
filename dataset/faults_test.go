package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("runtime.handleEvent")) // the runtime's own on js
}

// trouble makes the function test/trouble fail.
var trouble atomic.Bool

var errTrouble = errors.New("trouble")

func init() {
	dataset.RegisterFunc("test/trouble", dataset.MapFunc(func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if trouble.Load() && (x(src[0])+int64(c.Ordinal))%13 == 5 {
			if c.Ordinal%2 == 0 {
				panic(errTrouble)
			}
			return errTrouble
		}
		if err := dst[0].Reset(src[0].Desc); err != nil {
			return err
		}
		tensor.View[int64](&dst[0].Tensor)[0] = x(src[0])
		return nil
	}))
	dataset.RegisterFunc("test/flattrouble", dataset.FlatMapFunc(func(c *dataset.Call, i int, dst []*dataset.Value, src []*tensor.Tensor) (bool, error) {
		if trouble.Load() && x(src[0])%11 == 5 && i == 1 {
			return false, errTrouble
		}
		if i == 2 {
			return false, nil
		}
		if err := dst[0].Reset(src[0].Desc); err != nil {
			return false, err
		}
		tensor.View[int64](&dst[0].Tensor)[0] = x(src[0])
		return true, nil
	}))
}

// troubled returns a definition with failing functions in several places.
func troubled(r *rand.Rand, d *dataset.Dataset) *dataset.Dataset {
	in := make([]*dataset.Dataset, len(d.In))
	for i := range in {
		in[i] = troubled(r, d.In[i])
	}
	out := dataset.Of(d.Node, in...)
	switch d.Node.(type) {
	case *dataset.Batch, *dataset.Rename, *dataset.Project, *dataset.Zip:
		return out // Batch changes the columns
	}
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
	switch r.IntN(4) {
	case 0:
		return dataset.Of(&dataset.Func{Name: "test/trouble", In: []string{"x"}, Out: col}, out)
	case 1:
		if r.IntN(4) == 0 {
			return dataset.Of(&dataset.FlatMap{Name: "test/flattrouble", In: []string{"x"}, Out: col}, out)
		}
	}
	return out
}

// builtTroubled returns a random troubled definition that Build accepts.
func builtTroubled(t *testing.T, r *rand.Rand, o dataset.Options) (string, *dataset.Built) {
	t.Helper()
	for {
		d := troubled(r, definition(r, r.IntN(4)+1))
		if r.IntN(3) == 0 {
			d = d.Batch(r.IntN(5) + 1)
		}
		b, err := dataset.Build(t.Context(), d, o)
		if err == nil {
			return describe(d), b
		}
		require.ErrorIs(t, err, dataset.ErrDefinition, "%v", err)
	}
}

// upTo is rest; it also returns the error that ended the run.
func upTo(t *testing.T, p runner, most int) ([]string, error) {
	t.Helper()
	l := []string{}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for len(l) < most {
		s, err := p.Next(ctx)
		if err == io.EOF {
			return l, nil
		}
		if err != nil {
			require.NoError(t, ctx.Err(), "it hangs")
			return l, err
		}
		l = append(l, fmt.Sprint(tensor.View[int64](&s.Values[0].Tensor)))
	}
	return l, nil
}

// engines returns both engines, with 1, 2 and 8 workers.
func engines(t *testing.T, b *dataset.Built, s *dataset.State) map[string]runner {
	t.Helper()
	m := map[string]runner{"pull": pull(t, b, s)}
	for _, w := range []int{1, 2, 8} {
		m[fmt.Sprint(w, " workers")] = parallel(t, b, w, s)
	}
	p, err := pipeline.New(b, pipeline.Options{Workers: 2, Prefetch: -1, Queue: 2, Bytes: 1}, s)
	require.NoError(t, err)
	m["one sample at a time"] = p
	return m
}

// TestBadSamplesAlike checks that both engines return the same samples under
// every policy, and report the same bad samples between the same samples. A
// resumed run reports the others.
func TestBadSamplesAlike(t *testing.T) {
	trouble.Store(true)
	defer trouble.Store(false)
	bad := 0
	for seed := range graphs(t, 400) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		var mu sync.Mutex
		var told []string
		o := dataset.Options{Seed: uint64(seed), OnError: dataset.SkipOnError, MaxSkips: -1}
		if seed%2 == 0 {
			o.OnError = dataset.QuarantineOnError
		}
		at := 0
		o.OnSkip = func(e *dataset.SampleError) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("before %d: %s %q %d %d", at, e.Path, e.Key, e.Epoch, e.Ordinal))
		}
		what, b := builtTroubled(t, r, o)
		what = fmt.Sprintf("definition %d: %s", seed, what)
		if strings.Contains(what, "repeat&{Count:0}") {
			require.NoError(t, b.Close())
			continue // the definition may return bad samples without end
		}
		type runOf interface {
			runner
			Skipped() int64
			Quarantined() []*dataset.SampleError
		}
		run := func(p runOf, k int) []string {
			l := []string{}
			for len(l) < k {
				x, err := upTo(t, p, 1)
				require.NoError(t, err, what)
				if len(x) == 0 {
					break
				}
				l = append(l, x...)
				at++
			}
			return l
		}
		p := pull(t, b, nil).(runOf)
		want := run(p, most)
		wantTold := told
		bad += len(told)
		require.EqualValues(t, len(told), p.Skipped(), what)
		if o.OnError == dataset.QuarantineOnError {
			distinct := map[[2]string]bool{}
			for _, e := range p.Quarantined() {
				distinct[[2]string{e.Path, e.Key}] = true
			}
			require.Len(t, p.Quarantined(), len(distinct), what)
			require.LessOrEqual(t, len(distinct), len(told), what)
			require.Equal(t, len(told) > 0, len(distinct) > 0, what)
		} else {
			require.Empty(t, p.Quarantined(), what)
		}
		require.NoError(t, p.Close())
		for name, q := range engines(t, b, nil) {
			told, at = nil, 0
			require.Equal(t, want, run(q.(runOf), most), "%s: %s", what, name)
			require.Equal(t, wantTold, told, "%s: %s", what, name)
			require.NoError(t, q.Close())
		}
		k := r.IntN(len(want) + 1)
		told, at = nil, 0
		first := parallel(t, b, 2, nil).(runOf)
		require.Equal(t, want[:k], run(first, k), what)
		require.NoError(t, first.Close())
		second := parallel(t, b, 2, first.State()).(runOf)
		require.Equal(t, want[k:], run(second, most-k), "%s: resumed after %d", what, k)
		if strings.Contains(what, "unbatch") || strings.Contains(what, "flat_map") || strings.Contains(what, "zip") {
			// A resumed run repeats a sample that several samples are made of,
			// and samples that a Zip took from one input after another had
			// ended.
			require.Subset(t, told, wantTold, "%s: resumed after %d", what, k)
		} else {
			require.Equal(t, wantTold, told, "%s: resumed after %d", what, k)
		}
		require.NoError(t, second.Close())
		require.NoError(t, b.Close())
	}
	require.Positive(t, bad)
	t.Logf("%d bad samples", bad)
}

// TestGoesOnAfterError checks that the state of a failed run resumes at the
// failed sample: no sample is lost or repeated.
func TestGoesOnAfterError(t *testing.T) {
	defer trouble.Store(false)
	failures := 0
	for seed := range graphs(t, 400) {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		what, b := builtTroubled(t, r, dataset.Options{Seed: uint64(seed)})
		what = fmt.Sprintf("definition %d: %s", seed, what)
		trouble.Store(false)
		p := pull(t, b, nil)
		want := rest(t, p, most)
		require.NoError(t, p.Close())
		trouble.Store(true)
		p = pull(t, b, nil)
		good, wantErr := upTo(t, p, most)
		require.NoError(t, p.Close())
		require.Equal(t, want[:len(good)], good, what)
		if wantErr == nil {
			require.NoError(t, b.Close())
			continue
		}
		failures++
		var bad *dataset.SampleError
		require.ErrorAs(t, wantErr, &bad)
		for name, q := range engines(t, b, nil) {
			trouble.Store(true)
			l, err := upTo(t, q, most)
			require.Equal(t, good, l, "%s: %s", what, name)
			var e *dataset.SampleError
			require.ErrorAs(t, err, &e, "%s: %s", what, name)
			require.Equal(t, [4]any{bad.Path, bad.Key, bad.Epoch, bad.Ordinal}, [4]any{e.Path, e.Key, e.Epoch, e.Ordinal}, "%s: %s", what, name)
			_, again := q.Next(t.Context())
			require.Equal(t, err, again, "the run is over")
			state := q.State()
			require.NoError(t, q.Close())
			require.Equal(t, state, q.State(), "a run that was closed tells where it stood")
			second := pull(t, b, state)
			_, err = upTo(t, second, 1)
			require.Error(t, err, "%s: %s: the sample that failed is the next one", what, name)
			require.NoError(t, second.Close())
			trouble.Store(false)
			second = parallel(t, b, 2, state)
			require.Equal(t, want[len(good):], rest(t, second, most-len(good)), "%s: %s", what, name)
			require.NoError(t, second.Close())
		}
		require.NoError(t, b.Close())
	}
	require.Positive(t, failures)
	t.Logf("%d failures", failures)
}

// TestCancelledAnywhere cancels the ctx of Next, closes the run, or starts the
// next epoch at any moment. Nothing hangs, no goroutine leaks, and State
// returns where to resume.
func TestCancelledAnywhere(t *testing.T) {
	cancelled := 0
	for seed := range graphs(t, 400) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		d, b := built(t, r, dataset.Options{Seed: uint64(seed)})
		what := fmt.Sprintf("definition %d: %s", seed, describe(d))
		p := pull(t, b, nil)
		want := rest(t, p, most)
		require.NoError(t, p.NextEpoch())
		wantNext := rest(t, p, most)
		require.NoError(t, p.Close())
		o := pipeline.Options{Workers: []int{1, 2, 8}[r.IntN(3)], AutoTune: r.IntN(2) == 0, Interval: time.Millisecond, MaxWorkers: 9}
		q, err := pipeline.New(b, o, nil)
		require.NoError(t, err)
		got := []string{}
		switch k := r.IntN(len(want) + 1); r.IntN(3) {
		case 0: // cancel the ctx at some moment
			ctx, cancel := context.WithCancel(t.Context())
			stop := time.AfterFunc(time.Duration(r.IntN(300))*time.Microsecond, cancel)
			for len(got) < most {
				s, err := q.Next(ctx)
				if err != nil {
					if err != io.EOF {
						require.ErrorIs(t, err, context.Canceled, what)
						cancelled++
					}
					break
				}
				got = append(got, fmt.Sprint(tensor.View[int64](&s.Values[0].Tensor)))
			}
			stop.Stop()
			cancel()
		case 1: // close it after k samples, while it works
			got = rest(t, q, k)
		default: // start the next epoch after k samples
			require.Equal(t, want[:k], rest(t, q, k), what)
			require.NoError(t, q.NextEpoch())
			require.Equal(t, wantNext, rest(t, q, most), "%s: the next epoch, after %d", what, k)
			require.NoError(t, q.Close())
			require.NoError(t, b.Close())
			continue
		}
		require.Equal(t, want[:len(got)], got, what)
		state := q.State()
		require.NoError(t, q.Close())
		require.NoError(t, q.Close(), "twice")
		_, err = q.Next(t.Context())
		require.Error(t, err)
		require.ErrorIs(t, q.NextEpoch(), dataset.ErrClosed)
		require.Equal(t, state, q.State(), what)
		if state.Epoch == 0 {
			second := pull(t, b, state)
			require.Equal(t, want[len(got):], rest(t, second, most-len(got)), "%s: after %d", what, len(got))
			require.NoError(t, second.Close())
		}
		require.NoError(t, b.Close())
	}
	t.Logf("%d cancelled", cancelled)
}

// TestCancelledWithoutSamples cancels a run that never finds a sample.
func TestCancelledWithoutSamples(t *testing.T) {
	var calls atomic.Int64
	var cancel atomic.Pointer[context.CancelFunc]
	called := func() { // counts calls, since timers need a pause on some systems
		if calls.Add(1) == 1000 {
			(*cancel.Load())()
		}
	}
	never := func(*dataset.Call, []*tensor.Tensor) (bool, error) {
		called()
		return false, nil
	}
	bad := func(*dataset.Call, []*dataset.Value, []*tensor.Tensor) error {
		called()
		return errTrouble
	}
	for name, d := range map[string]*dataset.Dataset{
		"a filter":    dataset.Of(&numbers{N: 5}).Repeat(0).Filter(never, "x"),
		"bad samples": dataset.Of(&numbers{N: 5}).Repeat(0).MapFunc(bad, []string{"x"}, int64Column...).Batch(2),
		"above":       dataset.Of(&numbers{N: 5}).Repeat(0).ShuffleBuffer(3).MapFunc(bad, []string{"x"}, int64Column...).ShuffleBuffer(2),
	} {
		b, err := dataset.Build(t.Context(), d, dataset.Options{OnError: dataset.SkipOnError, MaxSkips: -1})
		require.NoError(t, err)
		for engine, p := range engines(t, b, nil) {
			ctx, stop := context.WithCancel(t.Context())
			cancel.Store(&stop)
			calls.Store(0)
			done := make(chan error, 1)
			go func() {
				_, err := p.Next(ctx)
				done <- err
			}()
			select {
			case err := <-done:
				require.ErrorIs(t, err, context.Canceled)
			case <-time.After(2 * time.Minute):
				require.Fail(t, "it hangs", "%s: %s", name, engine)
			}
			stop()
			require.NoError(t, p.Close())
		}
	}
}

// TestStreamThatOnlyFails checks that a stream of endless errors ends the run.
func TestStreamThatOnlyFails(t *testing.T) {
	b, err := dataset.Build(t.Context(), dataset.Of(&brokenStream{}), dataset.Options{OnError: dataset.SkipOnError})
	require.NoError(t, err)
	p, err := pullpipe.New(b, nil)
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	require.ErrorIs(t, err, errTrouble)
	require.ErrorContains(t, err, "1000 bad samples in succession")
	require.NoError(t, p.Close())
}

type brokenStream struct{}

func (*brokenStream) Validate() error                                            { return nil }
func (s *brokenStream) Open(context.Context, store.Opener) (dataset.Data, error) { return s, nil }
func (*brokenStream) Columns() []dataset.Column                                  { return int64Column }
func (*brokenStream) Close() error                                               { return nil }
func (s *brokenStream) Start(_ context.Context, _ uint64) (dataset.Reader, error) {
	return brokenReader{}, nil
}

type brokenReader struct{}

func (brokenReader) Next(context.Context, *dataset.Sample) error { return errTrouble }
func (brokenReader) Close() error                                { return nil }

// TestCallbackFails checks that a failing callback loses no sample.
func TestCallbackFails(t *testing.T) {
	for _, when := range []string{"begin", "end"} {
		for _, panics := range []bool{false, true} {
			var fail atomic.Bool
			call := func(_ context.Context, p dataset.Progress) error {
				if p.Step == 4 && fail.Load() {
					if panics {
						panic(errTrouble)
					}
					return errTrouble
				}
				return nil
			}
			c := dataset.Callback{StepBegin: call}
			if when == "end" {
				c = dataset.Callback{StepEnd: call}
			}
			b, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 9}).Watch(c), dataset.Options{})
			require.NoError(t, err)
			for name, p := range engines(t, b, nil) {
				fail.Store(true)
				l, err := upTo(t, p, most)
				require.Error(t, err, name)
				require.Len(t, l, 3, name)
				require.NoError(t, p.Close())
				fail.Store(false)
				q := pull(t, b, p.State())
				require.Equal(t, []string{"[3]", "[4]", "[5]", "[6]", "[7]", "[8]"}, rest(t, q, most), name)
				require.NoError(t, q.Close())
			}
			require.NoError(t, b.Close())
		}
	}
}

// TestAllDoneFails checks that a failing AllDone loses no sample.
func TestAllDoneFails(t *testing.T) {
	calls := 0
	o := dataset.Options{World: 2, AllDone: func(_ context.Context, done bool) (bool, error) {
		if calls++; calls == 3 {
			return false, errTrouble
		}
		return done, nil
	}}
	b, err := dataset.Build(t.Context(), dataset.Of(&numbers{N: 12}).ShuffleBuffer(3), o)
	require.NoError(t, err)
	p := pull(t, b, nil)
	want := rest(t, pull(t, b, nil), 2)
	calls = 0
	l, err := upTo(t, p, most)
	require.ErrorIs(t, err, errTrouble)
	require.Equal(t, want, l)
	require.NoError(t, p.Close())
	q := pull(t, b, p.State())
	require.Len(t, rest(t, q, most), 4)
	require.NoError(t, q.Close())
	require.NoError(t, b.Close())
}

// TestWaitedAndBad checks the error of a resumed run whose buffered sample is
// bad now. Other bad samples have no effect.
func TestWaitedAndBad(t *testing.T) {
	defer trouble.Store(false)
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
	b, err := dataset.Build(t.Context(), dataset.Of(&dataset.Func{Name: "test/trouble", In: []string{"x"}, Out: col}, dataset.Of(&numbers{N: 40})).ShuffleBuffer(30), dataset.Options{})
	require.NoError(t, err)
	p := pull(t, b, nil)
	rest(t, p, 1)
	state := p.State()
	require.NoError(t, p.Close())
	trouble.Store(true)
	for name, p := range map[string]runner{"pull": pull(t, b, state), "parallel": parallel(t, b, 2, state)} {
		_, err = p.Next(t.Context())
		require.ErrorIs(t, err, dataset.ErrState, name)
		require.ErrorIs(t, err, errTrouble, name)
		require.ErrorContains(t, err, "a buffered sample is bad now", name)
		require.Equal(t, state, p.State(), name)
		require.NoError(t, p.Close(), name)
	}
	require.NoError(t, b.Close())
}

// TestStatesAlike checks that both engines have equal states after every
// sample, with prefetched samples and with buffers of any length.
func TestStatesAlike(t *testing.T) {
	check := func(b *dataset.Built, steps int, what string) {
		p, q := pull(t, b, nil), parallel(t, b, 2, nil)
		for i := range steps {
			want := rest(t, p, 1)
			require.Equal(t, want, rest(t, q, 1), what)
			require.Equal(t, p.State(), q.State(), "%s: after %d", what, i)
			if len(want) == 0 {
				break
			}
		}
		require.NoError(t, p.Close())
		require.NoError(t, q.Close())
		require.NoError(t, b.Close())
	}
	for seed := range graphs(t, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 6))
		d, b := built(t, r, dataset.Options{Seed: uint64(seed)})
		check(b, 60, fmt.Sprintf("definition %d: %s", seed, describe(d)))
	}
	col := []dataset.OutColumn{{Name: "x", Desc: int64Column[0].Desc}}
	noise := func(d *dataset.Dataset) *dataset.Dataset {
		return dataset.Of(&dataset.Func{Name: "test/noise", In: []string{"x"}, Out: col}, d)
	}
	stream := dataset.Of(&numbers{N: 300, Stream: true})
	for what, d := range map[string]*dataset.Dataset{
		"a long buffer":         noise(stream.ShuffleBuffer(200)).Batch(7),
		"one of several passes": noise(noise(stream.ShuffleBuffer(40)).Repeat(4)).ShuffleBuffer(33).Batch(3),
		"two side by side":      dataset.NewInterleave(2, noise(stream).ShuffleBuffer(50).Repeat(3), noise(stream.ShuffleBuffer(20)).Repeat(0)).Take(900),
	} {
		b, err := dataset.Build(t.Context(), d, dataset.Options{Seed: 1})
		require.NoError(t, err)
		check(b, 2000, what)
	}
}
