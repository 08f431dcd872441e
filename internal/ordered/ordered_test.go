package ordered

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func square(_ context.Context, _, i int) (int, error) { return i * i, nil }

func TestOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		var got []int
		var running, most atomic.Int32
		busy := make([]atomic.Bool, workers)
		err := Run(t.Context(), Options{From: 3, To: 500, Workers: workers}, func(_ context.Context, worker, i int) (int, error) {
			if busy[worker].Swap(true) {
				return 0, errors.New("two items of one worker at once")
			}
			defer busy[worker].Store(false)
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			return i * i, nil
		}, func(i, v int, err error) error {
			require.NoError(t, err)
			require.Equal(t, i*i, v)
			got = append(got, i)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, got, 497)
		for k, i := range got {
			require.Equal(t, k+3, i)
		}
		require.LessOrEqual(t, int(most.Load()), workers)
	}
}

func TestNothing(t *testing.T) {
	put := func(int, int, error) error { return nil }
	require.NoError(t, Run(t.Context(), Options{From: 5, To: 5, Workers: 2}, square, put))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Run(ctx, Options{From: 5, To: 5, Workers: 2}, square, put), context.Canceled)
	require.ErrorIs(t, Run(ctx, Options{To: 5, Workers: 2}, square, put), context.Canceled)
}

// TestWindow: while the first item is slow, exactly a window of items is begun.
func TestWindow(t *testing.T) {
	for _, c := range []struct{ workers, window, want int }{{2, 0, 8}, {3, 5, 5}, {2, 2, 2}, {4, 1, 4}} {
		var begun atomic.Int32
		reached, put := make(chan struct{}), 0
		err := Run(t.Context(), Options{To: 100, Workers: c.workers, Window: c.window}, func(_ context.Context, _, i int) (int, error) {
			if int(begun.Add(1)) == c.want {
				close(reached)
			}
			if i == 0 {
				<-reached
			}
			return i, nil
		}, func(i, _ int, _ error) error {
			if put++; i == 0 {
				require.LessOrEqual(t, int(begun.Load()), c.want)
			}
			require.LessOrEqual(t, int(begun.Load())-i, c.want)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 100, put)
	}
}

// TestPutFails: the first error of put ends the run.
func TestPutFails(t *testing.T) {
	stop := errors.New("stop")
	var begun atomic.Int32
	n := 0
	err := Run(t.Context(), Options{To: 500, Workers: 3, Window: 6}, func(_ context.Context, _, i int) (int, error) {
		begun.Add(1)
		return i, nil
	}, func(int, int, error) error {
		if n++; n == 10 {
			return stop
		}
		return nil
	})
	require.ErrorIs(t, err, stop)
	require.Equal(t, 10, n)
	require.LessOrEqual(t, int(begun.Load()), 9+6)
}

// TestWorkFails: an error of work is handed to put, which decides.
func TestWorkFails(t *testing.T) {
	odd, failed := errors.New("odd"), 0
	err := Run(t.Context(), Options{To: 10, Workers: 2}, func(_ context.Context, _, i int) (int, error) {
		if i%2 == 1 {
			return 0, odd
		}
		return i, nil
	}, func(i, _ int, err error) error {
		if i%2 == 1 {
			require.ErrorIs(t, err, odd)
			failed++
		} else {
			require.NoError(t, err)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 5, failed)
}

// TestCancel: the items that were begun are put, without gaps, and no others.
func TestCancel(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var begun atomic.Int32
		var got []int
		err := Run(ctx, Options{To: 500, Workers: workers}, func(ctx context.Context, _, i int) (int, error) {
			begun.Add(1)
			if i == 20 {
				cancel()
			}
			if i >= 20 {
				<-ctx.Done() // work sees the end
			}
			return i, nil
		}, func(i, _ int, _ error) error {
			got = append(got, i)
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, got, int(begun.Load()))
		require.GreaterOrEqual(t, len(got), 21)
		require.LessOrEqual(t, len(got), 21+4*workers)
		for k, i := range got {
			require.Equal(t, k, i)
		}
	}
}

// TestStream: items come from a sequence. It is asked for an item only if the
// window has a place, it is at most one item ahead of the workers, and it ends
// with its context.
func TestStream(t *testing.T) {
	const workers, window = 2, 5
	var made, begun, put atomic.Int32
	sequence := func(n int) func(context.Context) iter.Seq[string] {
		return func(ctx context.Context) iter.Seq[string] {
			return func(yield func(string) bool) {
				for i := range n {
					made.Add(1)
					if !yield(string(rune('a' + i%26))) {
						return
					}
				}
				<-ctx.Done() // more items may come
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got string
	err := Stream(ctx, Options{Workers: workers, Window: window}, sequence(100), func(_ context.Context, _ int, item string) (string, error) {
		begun.Add(1)
		if n := made.Load() - put.Load(); n > window {
			return "", errors.New("more items than the window has places")
		}
		return item + item, nil
	}, func(item, v string, err error) error {
		require.NoError(t, err)
		require.Equal(t, item+item, v)
		require.LessOrEqual(t, int(made.Load()-put.Load()), window)
		require.LessOrEqual(t, int(made.Load()-begun.Load()), 1+workers) // a worker counts after it took an item
		got += item
		if put.Add(1) == 100 {
			cancel()
		}
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, got, 100)
	require.Equal(t, "abcdefghijklmnopqrstuvwxyzabcd", got[:30])

	stop := errors.New("stop")
	put.Store(0)
	err = Stream(t.Context(), Options{Workers: workers}, sequence(10), func(_ context.Context, _ int, item string) (string, error) { return item, nil },
		func(string, string, error) error {
			if put.Add(1) == 10 {
				return stop // while the sequence waits
			}
			return nil
		})
	require.ErrorIs(t, err, stop)
}
