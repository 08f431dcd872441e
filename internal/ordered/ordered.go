// Package ordered runs work for a range of items in parallel and delivers the
// results in order.
package ordered

import (
	"context"
	"sync"
)

// Options configures Run.
type Options struct {
	// From and To are the first item and the one after the last.
	From, To int
	// Workers is the number of goroutines that call work; at least 1.
	Workers int
	// Window is the largest number of items that may be begun and not yet put,
	// so that one slow item delays a bounded number of others. Default 4 for
	// each worker; at least Workers.
	Window int
}

// Run calls work for each item in o.Workers goroutines, and put with the
// results, in order, on the calling goroutine. worker, from 0 to o.Workers-1,
// identifies the goroutine, for state that calls of work reuse.
//
// If put returns an error, Run begins no further items and returns that error.
// If ctx ends, Run begins no further items, puts the results of those already
// begun, and returns ctx's error. All goroutines have ended when Run returns.
func Run[T any](ctx context.Context, o Options, work func(ctx context.Context, worker, i int) (T, error), put func(i int, v T, err error) error) error {
	if o.From >= o.To {
		return ctx.Err()
	}
	if o.Window == 0 {
		o.Window = 4 * o.Workers
	}
	type result struct {
		v   T
		err error
	}
	type task struct {
		i    int
		done chan result // closed without a result if the task was not begun
	}
	// The queue's buffer, with the task that waits for put, makes the window.
	queue := make(chan task, max(o.Window, o.Workers)-1)
	tasks := make(chan task)
	running, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() {
		defer close(queue)
		defer close(tasks)
		for i := o.From; i < o.To && running.Err() == nil; i++ {
			t := task{i, make(chan result, 1)}
			select {
			case queue <- t:
			case <-running.Done():
				return
			}
			select {
			case tasks <- t:
			case <-running.Done():
				close(t.done)
				return
			}
		}
	})
	for worker := range o.Workers {
		all.Go(func() {
			for t := range tasks {
				v, err := work(running, worker, t.i)
				t.done <- result{v, err}
			}
		})
	}
	for t := range queue {
		r, begun := <-t.done
		if !begun {
			break
		}
		if err := put(t.i, r.v, r.err); err != nil {
			return err
		}
	}
	return ctx.Err()
}
