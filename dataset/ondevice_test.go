package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
	t "github.com/infer-prep/infer-prep/transforms"
)

// accelerator is a device that computes on the host. Its sessions behave as
// real ones may: they keep their outputs until the next call only, and must not
// be used by two goroutines.
type accelerator struct {
	refused []string // ops that stay on the host
	class   device.Class
	// wrong returns what Preprocess does instead of a run, if not nil. n counts
	// the runs of all sessions.
	wrong func(n int64) error

	runs, opened, open, worst, shared atomic.Int64
	mu                                sync.Mutex
	asked                             []device.Class
}

func (a *accelerator) Name() string { return "test" }
func (a *accelerator) Close() error { return nil }

func (a *accelerator) Place(p *datagraph.Plan) (device.Placement, error) {
	var l device.Placement
	for i, s := range p.Graph().Steps {
		x := device.Place{Step: i, Op: t.InfoOf(s.Op).Name, Where: "test", Class: a.class}
		if _, random := s.Op.(t.Random); random {
			return nil, errors.New("a random op")
		}
		if slices.Contains(a.refused, x.Op) {
			x.Where, x.Class, x.Why = "cpu", device.Exact, "it is refused"
		}
		l = append(l, x)
	}
	return l, nil
}

func (a *accelerator) Open(p *datagraph.Plan, o device.Options) (device.Session, error) {
	l, err := a.Place(p)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, o.Least)
	a.opened.Add(1)
	if n := a.open.Add(1); n > a.worst.Load() {
		a.worst.Store(n)
	}
	return &acceleratorSession{a: a, runner: p.NewRunner(), placement: l}, nil
}

type acceleratorSession struct {
	a         *accelerator
	runner    *datagraph.Runner
	placement device.Placement
	use       sync.Mutex
	out       []*tensor.Tensor
	closed    bool
}

func (s *acceleratorSession) Placement() device.Placement { return s.placement }

func (s *acceleratorSession) Preprocess(ctx context.Context, in ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if !s.use.TryLock() || s.closed {
		s.a.shared.Add(1)
		return nil, errors.New("used by two goroutines, or after Close")
	}
	defer s.use.Unlock()
	n := s.a.runs.Add(1)
	for _, x := range s.out {
		for i := range x.Data {
			x.Data[i] = 0xa5
		}
	}
	if s.a.wrong != nil {
		if err := s.a.wrong(n); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := s.runner.Run(in...)
	if err != nil {
		return nil, err
	}
	s.out = s.out[:0]
	for _, x := range out {
		s.out = append(s.out, x.Clone())
	}
	return s.out, nil
}

func (s *acceleratorSession) Infer(context.Context, ...*tensor.Tensor) ([]tensor.Named, error) {
	return nil, errors.New("no models")
}

func (s *acceleratorSession) Close() error {
	if !s.closed {
		s.closed = true
		s.a.open.Add(-1)
	}
	return nil
}

// done checks that an accelerator was used properly and that all of its
// sessions are closed.
func (a *accelerator) done(test *testing.T, what string) {
	test.Helper()
	require.Zero(test, a.shared.Load(), "%s: sessions used by two goroutines", what)
	require.Zero(test, a.open.Load(), "%s: open sessions", what)
}

// TestOnDeviceChangesNothing compares runs of random definitions with and
// without a device: samples, errors, skipped and replaced samples, and states
// are equal, on both engines, for all numbers of workers and queues. Each
// resumes from the states of the other.
func TestOnDeviceChangesNothing(test *testing.T) {
	placed, bad, resumed := 0, 0, 0
	dir := test.TempDir()
	policies := []dataset.ErrorPolicy{dataset.FailOnError, dataset.SkipOnError, dataset.QuarantineOnError, dataset.ReplaceOnError}
	rounds := short.Rounds(test, 100, 20)
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		broken := seed%3 > 0
		d := imageDefinition(r, broken, dir)
		o := dataset.Options{Seed: uint64(seed), MaxSkips: -1, OnError: policies[seed%len(policies)]}
		if r.IntN(2) == 0 {
			o.CacheBytes = 1 << 30
		}
		if r.IntN(2) == 0 {
			o.Disable = dataset.Passes()
		}
		var reported []string
		o.OnSkip = func(e *dataset.SampleError) { reported = append(reported, e.Error()) }
		plain, err := dataset.Build(test.Context(), d, o)
		if err != nil {
			require.ErrorIs(test, err, dataset.ErrDefinition)
			continue
		}
		a := &accelerator{class: device.Exact, refused: [][]string{{"decode"}, {"decode", "resize", "resized_crop"}, {}}[r.IntN(3)]}
		o.Device = a
		b, err := dataset.Build(test.Context(), d, o)
		what := fmt.Sprintf("definition %d, %v: %s", seed, o.OnError, describe(d))
		if err != nil {
			require.ErrorIs(test, err, dataset.ErrDefinition, what)
			require.Contains(test, err.Error(), "device test", what)
			require.NoError(test, plain.Close())
			a.done(test, what)
			continue
		}
		placed++
		require.Equal(test, plain.Columns(), b.Columns(), what)
		require.Equal(test, plain.Len(), b.Len(), what)
		const most = 30
		type result struct {
			samples [2][]string
			states  [2]*dataset.State
			skips   []string
		}
		epochs := func(p runner) (l result) {
			reported = nil
			for i := range l.samples {
				l.samples[i] = look(test, p, most)
				l.states[i] = p.State()
				require.NoError(test, p.NextEpoch())
			}
			require.NoError(test, p.Close())
			l.skips = reported
			return l
		}
		want := epochs(pull(test, plain, nil))
		if len(want.skips) > 0 {
			bad++
		}
		require.Equal(test, want, epochs(pull(test, b, nil)), what)
		for _, w := range []pipeline.Options{{Workers: 1, Queue: 1}, {Workers: 2}, {Workers: 8, Queue: 9, Prefetch: -1}, {Workers: 3, Queue: 40}} {
			p, err := pipeline.New(b, w, nil)
			require.NoError(test, err)
			require.Equal(test, want, epochs(p), "%s: %+v", what, w)
		}
		if n := len(want.samples[0]); n > 0 && o.OnError != dataset.FailOnError {
			resumed++
			k := r.IntN(n)
			for _, way := range [][2]*dataset.Built{{plain, b}, {b, plain}} {
				p := parallel(test, way[0], 3, nil)
				require.Equal(test, want.samples[0][:k], look(test, p, k), what)
				q := parallel(test, way[1], 2, p.State())
				require.Equal(test, want.samples[0][k:], look(test, q, most-k), "%s: resumed after %d", what, k)
				require.NoError(test, errors.Join(p.Close(), q.Close()))
			}
		}
		require.NoError(test, errors.Join(b.Close(), plain.Close()))
		require.LessOrEqual(test, a.worst.Load(), int64(40), what) // of 8 workers in each of a few maps
		a.done(test, what)
	}
	test.Logf("%d definitions ran on the device, %d of them had bad samples, %d were resumed", placed, bad, resumed)
	require.Greater(test, placed, rounds/5)
	require.Greater(test, bad, rounds/40)
}

// training returns images with a random crop and flip before the part that a
// device takes.
func training(source dataset.Source) *dataset.Dataset {
	return dataset.From(source).Shuffle().Map(datagraph.New(t.NewDecode(), t.NewRandomResizedCrop(16, 12), t.NewRandomHorizontalFlip(),
		t.NewToTensor(), t.NewNormalize([]float64{0.5, 0.4, 0.3}, []float64{0.2, 0.3, 0.4})))
}

// TestOnDevicePlaces checks where steps run, and that Steps says why.
func TestOnDevicePlaces(test *testing.T) {
	a := &accelerator{class: device.Exact}
	b, err := dataset.Build(test.Context(), training(&photos{N: 6}).Batch(2), dataset.Options{Device: a})
	require.NoError(test, err)
	i := slices.IndexFunc(b.Steps(), func(s dataset.StepInfo) bool { return s.Node == "map" })
	var got []string
	for _, p := range b.Steps()[i].Placement {
		got = append(got, fmt.Sprintf("%d %s %s", p.Step, p.Op, p.Where))
	}
	require.Equal(test, []string{"0 decode cpu", "1 random_resized_crop cpu", "2 random_horizontal_flip cpu", "3 to_tensor test", "4 normalize test"}, got)
	require.Contains(test, b.Steps()[i].Placement[0].Why, "random")
	require.Equal(test, []device.Class{device.Exact}, a.asked)
	require.NoError(test, b.Close())
	a.done(test, "")
}

// TestOnDeviceRefused checks the errors of Build.
func TestOnDeviceRefused(test *testing.T) {
	for _, c := range []struct {
		what string
		a    *accelerator
		d    *dataset.Dataset
		o    dataset.Options
		is   error
		want string
	}{
		{"no map", &accelerator{class: device.Exact}, dataset.From(&photos{N: 3}), dataset.Options{}, dataset.ErrDefinition, "no map for device test to run"},
		{"inexact", &accelerator{class: device.Approximate}, training(&photos{N: 3}), dataset.Options{}, device.ErrClass, "step 0 (normalize) on test is approximate"},
		{"refused", &accelerator{class: device.Exact, refused: []string{"normalize"}}, training(&photos{N: 3}), dataset.Options{}, dataset.ErrDefinition, "step 4 (normalize): it is refused"},
		{"random last", &accelerator{class: device.Exact}, dataset.From(&photos{N: 3}).Map(datagraph.New(t.NewDecode(), t.NewRandomHorizontalFlip())), dataset.Options{}, dataset.ErrDefinition, "no step is behind the last one that is random"},
	} {
		c.o.Device = c.a
		_, err := dataset.Build(test.Context(), c.d, c.o)
		require.ErrorIs(test, err, c.is, c.what)
		require.ErrorIs(test, err, dataset.ErrDefinition, c.what)
		require.Contains(test, err.Error(), c.want, c.what)
		c.a.done(test, c.what)
	}
	a := &accelerator{class: device.Approximate}
	b, err := dataset.Build(test.Context(), training(&photos{N: 3}), dataset.Options{Device: a, DeviceLeast: device.Approximate})
	require.NoError(test, err)
	require.Equal(test, []device.Class{device.Approximate}, a.asked)
	require.NoError(test, b.Close())
}

// TestOnDeviceFails checks that a device that fails on a good sample ends the
// run under every policy, that a panic does so too, and that the run resumes at
// that sample.
func TestOnDeviceFails(test *testing.T) {
	errLost := errors.New("the device is lost")
	for _, policy := range []dataset.ErrorPolicy{dataset.FailOnError, dataset.SkipOnError, dataset.QuarantineOnError, dataset.ReplaceOnError} {
		for _, panics := range []bool{false, true} {
			what := fmt.Sprintf("policy %d, panic %v", policy, panics)
			a := &accelerator{class: device.Exact}
			// Each run from the fifth on fails, until the device is well.
			var well atomic.Bool
			a.wrong = func(n int64) error {
				if n < 5 || well.Load() {
					return nil
				}
				if panics {
					panic(errLost)
				}
				return errLost
			}
			b, err := dataset.Build(test.Context(), training(&photos{N: 12}), dataset.Options{Device: a, OnError: policy})
			require.NoError(test, err)
			p := parallel(test, b, 1, nil)
			for range 4 {
				_, err = p.Next(test.Context())
				require.NoError(test, err, what)
			}
			_, err = p.Next(test.Context())
			require.ErrorContains(test, err, "device test failed on a sample that the host can transform", what)
			require.ErrorContains(test, err, "the device is lost", what)
			var e *dataset.SampleError
			require.ErrorAs(test, err, &e, what)
			require.True(test, strings.HasPrefix(e.Path, "map"), e.Path)
			if !panics {
				require.ErrorIs(test, err, errLost, what)
			}
			well.Store(true)
			q := parallel(test, b, 2, p.State())
			s, err := q.Next(test.Context())
			require.NoError(test, err, what)
			require.Equal(test, e.Key, s.Key, what)
			require.NoError(test, errors.Join(p.Close(), q.Close(), b.Close()))
			a.done(test, what)
		}
	}
}

// TestOnDeviceFailsWhileReplacing checks that a device's error on a replacement
// ends the run, too.
func TestOnDeviceFailsWhileReplacing(test *testing.T) {
	a := &accelerator{class: device.Exact}
	a.wrong = func(int64) error { return errors.New("the device is lost") }
	d := dataset.From(&photos{N: 6, Bad: 2}).Skip(1).Map(datagraph.New(t.NewDecode(), t.NewResize(5, 5)))
	b, err := dataset.Build(test.Context(), d, dataset.Options{Device: a, OnError: dataset.ReplaceOnError})
	require.NoError(test, err)
	p := pull(test, b, nil)
	_, err = p.Next(test.Context())
	require.ErrorContains(test, err, "the device is lost")
	require.NotContains(test, err.Error(), "no sample replaces it")
	require.NoError(test, errors.Join(p.Close(), b.Close()))
	a.done(test, "")
}

// TestOnDeviceStops checks that Close ends a run whose device is at work, and
// that its samples are not bad.
func TestOnDeviceStops(test *testing.T) {
	a := &accelerator{class: device.Exact}
	b, err := dataset.Build(test.Context(), training(&photos{N: 12}).Repeat(0), dataset.Options{Device: a})
	require.NoError(test, err)
	for range 20 {
		p := parallel(test, b, 4, nil)
		_, err = p.Next(test.Context())
		require.NoError(test, err)
		require.NoError(test, p.Close())
	}
	require.NoError(test, b.Close())
	a.done(test, "")
}
