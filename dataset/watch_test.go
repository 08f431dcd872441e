package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pipeline"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestWatch(t *testing.T) {
	var log []string
	note := func(what string) func(context.Context, dataset.Progress) error {
		return func(_ context.Context, p dataset.Progress) error {
			log = append(log, fmt.Sprint(what, p.Epoch, ".", p.Step))
			return nil
		}
	}
	d := dataset.Of(&numbers{N: 5}).Watch(dataset.Callback{
		Every: 2, EpochBegin: note("E"), EpochEnd: note("e"), StepBegin: note("S"), StepEnd: note("s"),
	}).Batch(2)
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	require.Equal(t, int64(3), b.Len())
	p := pull(t, b, nil)
	require.Len(t, rest(t, p, 10), 3)
	require.NoError(t, p.NextEpoch())
	require.Len(t, rest(t, p, 1), 1)
	require.Equal(t, []string{"E0.0", "S0.1", "s0.1", "S0.3", "s0.3", "S0.5", "s0.5", "e0.5", "E1.0", "S1.1", "s1.1"}, log)

	stop := errors.New("enough")
	d = dataset.Of(&numbers{N: 5}).Watch(dataset.Callback{StepEnd: func(_ context.Context, p dataset.Progress) error {
		if p.Step == 3 {
			return stop
		}
		return nil
	}})
	b, err = dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	p = pull(t, b, nil)
	require.Len(t, rest(t, p, 2), 2)
	_, err = p.Next(context.Background())
	require.ErrorIs(t, err, stop)
}

// TestWatchWaits checks that each sample is made after the training's answer to
// the one before, and that Close ends the waiting.
func TestWatchWaits(t *testing.T) {
	answers := dataset.NewAnswers()
	var got []any
	d := dataset.Of(&numbers{N: 5}).Watch(dataset.Callback{Answers: answers, StepBegin: func(_ context.Context, p dataset.Progress) error {
		got = append(got, p.Answer)
		return nil
	}})
	b, err := dataset.Build(t.Context(), d, dataset.Options{})
	require.NoError(t, err)
	p, err := pipeline.New(b, pipeline.Options{Prefetch: 4}, nil)
	require.NoError(t, err)
	require.Len(t, rest(t, p, 1), 1)
	answers.Give("one")
	require.Len(t, rest(t, p, 1), 1)
	answers.Give("two")
	require.Len(t, rest(t, p, 1), 1)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = p.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, p.Close())
	require.Equal(t, []any{nil, "one", "two"}, got)
}

// TestWatchAhead checks that nothing below a Watch that waits is made ahead,
// in both engines.
func TestWatchAhead(t *testing.T) {
	for _, engine := range []string{"pulled", "parallel"} {
		answers := dataset.NewAnswers()
		factor := int64(0) // of one goroutine at a time
		scale := dataset.MapFunc(func(c *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
			if err := dst[0].Reset(src[0].Desc); err != nil {
				return err
			}
			tensor.View[int64](&dst[0].Tensor)[0] = factor
			return nil
		})
		d := dataset.Of(&numbers{N: 6}).MapFunc(scale, []string{"x"}, int64Column[0]).Batch(2)
		d = d.Watch(dataset.Callback{Answers: answers, StepBegin: func(_ context.Context, p dataset.Progress) error {
			factor = 10 * p.Step
			return nil
		}})
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		var p runner
		if engine == "pulled" {
			p = pull(t, b, nil)
		} else {
			p = parallel(t, b, 4, nil)
		}
		var got []string
		for range 3 {
			got = append(got, rest(t, p, 1)...)
			answers.Give(nil)
		}
		require.Equal(t, []string{"[10 10]", "[20 20]", "[30 30]"}, got, engine)
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
}

// TestWatchEnds checks that EpochEnd is called once an epoch where nodes above
// the Watch need no more samples, in both engines, and that its error can be
// resumed from.
func TestWatchEnds(t *testing.T) {
	for _, engine := range []string{"pulled", "parallel"} {
		ends, begins := 0, 0
		var fails error
		watch := dataset.Callback{
			EpochBegin: func(context.Context, dataset.Progress) error { begins++; return nil },
			EpochEnd: func(_ context.Context, p dataset.Progress) error {
				if p.Step < 3 || p.Step > 50 {
					return fmt.Errorf("%d samples", p.Step)
				}
				ends++
				return fails
			},
		}
		d := dataset.NewZip(dataset.Of(&numbers{N: 50}).Watch(watch).Take(3).Rename([]string{"x"}, []string{"y"}), dataset.Of(&numbers{N: 9})).Project("y").Batch(2)
		b, err := dataset.Build(t.Context(), d, dataset.Options{})
		require.NoError(t, err)
		start := func(s *dataset.State) runner {
			if engine == "pulled" {
				return pull(t, b, s)
			}
			return parallel(t, b, 4, s)
		}
		p := start(nil)
		for epoch := 1; epoch <= 2; epoch++ {
			require.Equal(t, []string{"[0 1]", "[2]"}, rest(t, p, 10), engine)
			_, err := p.Next(t.Context())
			require.Equal(t, io.EOF, err)
			require.Equal(t, epoch, ends, engine)
			require.Equal(t, epoch, begins, engine)
			require.NoError(t, p.NextEpoch())
		}
		fails = errors.New("no")
		require.Len(t, rest(t, p, 2), 2)
		_, err = p.Next(t.Context())
		require.ErrorIs(t, err, fails)
		s := p.State()
		require.NoError(t, p.Close())
		fails = nil
		p = start(s)
		require.Empty(t, rest(t, p, 10))
		require.Equal(t, uint64(3), p.State().Epoch)
		require.Equal(t, 4, ends)
		require.NoError(t, p.Close())
		require.NoError(t, b.Close())
	}
}
