package pipeline

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/pullpipe"
	"github.com/infer-prep/infer-prep/store"
)

// anyRun is a run of either engine.
type anyRun interface {
	Next(context.Context) (*dataset.Sample, error)
	NextEpoch() error
	State() *dataset.State
	All(context.Context) iter.Seq2[*dataset.Sample, error]
	Close() error
}

// runs starts runs of both engines, with and without prefetched batches.
var runs = map[string]func(*testing.T, *dataset.Built, *dataset.State) anyRun{
	"pull": func(t *testing.T, b *dataset.Built, s *dataset.State) anyRun {
		p, err := pullpipe.New(b, s)
		require.NoError(t, err)
		return p
	},
	"parallel": func(t *testing.T, b *dataset.Built, s *dataset.State) anyRun {
		p, err := New(b, Options{Workers: 2}, s)
		require.NoError(t, err)
		return p
	},
	"no prefetch": func(t *testing.T, b *dataset.Built, s *dataset.State) anyRun {
		p, err := New(b, Options{Workers: 2, Prefetch: -1, AutoTune: true, Interval: time.Millisecond}, s)
		require.NoError(t, err)
		return p
	},
}

// TestSecondGoroutine checks that a second goroutine in Next or NextEpoch gets
// ErrConcurrent at once, and that no sample is lost.
func TestSecondGoroutine(t *testing.T) {
	for name, run := range runs {
		within(t, func() {
			inside, proceed := make(chan struct{}, 1), make(chan struct{})
			var once sync.Once
			b := build(t, dataset.Of(&source{n: 20, at: func(i int64) error {
				once.Do(func() { inside <- struct{}{}; <-proceed })
				return nil
			}}).Batch(2), dataset.Options{})
			p := run(t, b, nil)
			first := make(chan error)
			go func() {
				_, err := p.Next(t.Context())
				first <- err
			}()
			<-inside
			_, err := p.Next(t.Context())
			require.ErrorIs(t, err, dataset.ErrConcurrent, name)
			require.ErrorIs(t, p.NextEpoch(), dataset.ErrConcurrent, name)
			close(proceed)
			require.NoError(t, <-first, name)
			n := 1
			for ; ; n++ {
				if _, err := p.Next(t.Context()); err == io.EOF {
					break
				} else {
					require.NoError(t, err, name)
				}
			}
			require.Equal(t, 10, n, name)
			require.NoError(t, p.Close())
		})
	}
}

// TestManyGoroutines lets goroutines fight for Next: together they get every
// sample once.
func TestManyGoroutines(t *testing.T) {
	for name, run := range runs {
		within(t, func() {
			b := build(t, dataset.Of(&source{n: 2000}).Batch(2), dataset.Options{})
			p := run(t, b, nil)
			var got, refused atomic.Int64
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					for {
						switch _, err := p.Next(t.Context()); err {
						case nil:
							got.Add(1)
						case dataset.ErrConcurrent:
							refused.Add(1)
						default:
							if err != io.EOF {
								t.Errorf("%s: %v", name, err)
							}
							return
						}
					}
				})
			}
			group.Wait()
			require.EqualValues(t, 1000, got.Load(), "%s: %d refused", name, refused.Load())
			require.NoError(t, p.Close())
		})
	}
}

// slowRows is a source whose reads wait, and end with their ctx.
type slowRows struct {
	*source
	wait time.Duration
}

func (s *slowRows) Open(context.Context, store.Opener) (dataset.Data, error) {
	return slowData{sourceRows{s.source}, s.wait}, nil
}

type slowData struct {
	sourceRows
	wait time.Duration
}

func (r slowData) Read(ctx context.Context, i int64, x *dataset.Sample) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("reading: %w", ctx.Err())
	case <-time.After(r.wait):
		return r.sourceRows.Read(ctx, i, x)
	}
}

// TestCloseDuringNext closes runs from another goroutine. Next returns its
// sample or ErrClosed, and the state resumes without a lost or repeated sample,
// also where bad samples are skipped.
func TestCloseDuringNext(t *testing.T) {
	const n = 60
	for name, run := range runs {
		for trial := range 30 {
			within(t, func() {
				o := dataset.Options{OnError: dataset.ErrorPolicy(trial % 2)}
				b := build(t, dataset.Of(&slowRows{&source{n: n}, 50 * time.Microsecond}).Batch(3), o)
				p := run(t, b, nil)
				got, ended := 0, make(chan error)
				go func() {
					for {
						_, err := p.Next(context.Background())
						if err != nil {
							ended <- err
							return
						}
						got++
					}
				}()
				time.Sleep(time.Duration(rand.IntN(4000)) * time.Microsecond)
				second := make(chan error)
				go func() { second <- p.Close() }()
				require.NoError(t, p.Close(), name)
				require.NoError(t, <-second, name)
				if err := <-ended; err != io.EOF {
					require.ErrorIs(t, err, dataset.ErrClosed, name)
				} else {
					require.Equal(t, n/3, got, name)
					return
				}
				_, err := p.Next(context.Background())
				require.ErrorIs(t, err, dataset.ErrClosed, name)
				require.ErrorIs(t, p.NextEpoch(), dataset.ErrClosed, name)
				q := run(t, b, p.State())
				want := byte(3 * got)
				for {
					s, err := q.Next(context.Background())
					if err == io.EOF {
						break
					}
					require.NoError(t, err, name)
					require.Equal(t, want, s.Column("x").Data[0], "%s: closed after %d", name, got)
					want += 3
				}
				require.EqualValues(t, n, want, "%s: closed after %d", name, got)
				require.NoError(t, q.Close())
			})
		}
	}
}

// TestCancelHasOneMeaning checks Next with a ctx that ends before or during it:
// the run has ended with the error of the ctx until NextEpoch, and its state
// resumes without a lost or repeated sample.
func TestCancelHasOneMeaning(t *testing.T) {
	for name, run := range runs {
		for _, how := range []string{"before the first", "before", "during", "deadline"} {
			within(t, func() {
				o := dataset.Options{OnError: dataset.SkipOnError}
				b := build(t, dataset.Of(&slowRows{&source{n: 30}, 3 * time.Millisecond}).Batch(3), o)
				p := run(t, b, nil)
				next := 0
				if how != "before the first" {
					s, err := p.Next(t.Context())
					require.NoError(t, err)
					require.Zero(t, s.Column("x").Data[0])
					next = 3
				}
				ctx, cancel := context.WithCancel(context.Background())
				want := context.Canceled
				switch how {
				case "during":
					time.AfterFunc(time.Millisecond, cancel)
				case "deadline":
					ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
					want = context.DeadlineExceeded
				default:
					cancel()
				}
				var err error
				for err == nil { // prefetched batches may come first
					var s *dataset.Sample
					if s, err = p.Next(ctx); err == nil {
						require.EqualValues(t, next, s.Column("x").Data[0])
						next += 3
					}
				}
				cancel()
				require.Equal(t, want, err, "%s: %s", name, how)
				_, err = p.Next(context.Background())
				require.Equal(t, want, err, "%s: %s: the run has ended", name, how)
				q := run(t, b, p.State())
				for s, err := range q.All(context.Background()) {
					require.NoError(t, err)
					require.EqualValues(t, next, s.Column("x").Data[0], "%s: %s", name, how)
					next += 3
				}
				require.Equal(t, 30, next, "%s: %s", name, how)
				require.NoError(t, q.Close())
				require.NoError(t, p.NextEpoch())
				s, err := p.Next(context.Background())
				require.NoError(t, err, "%s: %s: the next epoch", name, how)
				require.Zero(t, s.Column("x").Data[0])
				require.NoError(t, p.Close())
			})
		}
	}
}
