package pack

import (
	"context"
	"sync"
)

// ordered calls work for each of the items from, from+1, … n-1 in so many goroutines, and
// put with their results, in order, in the calling one. At most 4 items a worker are
// under way, so that one slow item holds up a bounded number of others. It ends with
// put's first error, or ctx's; no goroutine of it is left when it returns.
func ordered[T any](ctx context.Context, from, n, workers int, work func(ctx context.Context, i int) (T, error), put func(i int, v T, err error) error) error {
	if from >= n {
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		v   T
		err error
	}
	type ticket struct {
		i    int
		done chan result
	}
	queue := make(chan ticket, 4*workers) // in order, for put
	tasks := make(chan ticket)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() {
		defer close(queue)
		defer close(tasks)
		for i := from; i < n; i++ {
			t := ticket{i, make(chan result, 1)}
			select {
			case queue <- t:
			case <-ctx.Done():
				return
			}
			select {
			case tasks <- t:
			case <-ctx.Done():
				return
			}
		}
	})
	for range workers {
		all.Go(func() {
			for t := range tasks {
				v, err := work(ctx, t.i)
				t.done <- result{v, err}
			}
		})
	}
	for t := range queue {
		select {
		case r := <-t.done:
			if err := put(t.i, r.v, r.err); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}
