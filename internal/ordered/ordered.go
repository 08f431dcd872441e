// Package ordered runs work for items in parallel and delivers the results in
// order.
package ordered

import (
	"context"
	"iter"
	"sync"
)

// Options configures Run and Stream.
type Options struct {
	// From and To are the first item of Run and the one after the last. Stream
	// ignores them.
	From, To int
	// Workers is the number of goroutines that call work; at least 1.
	Workers int
	// Window is the largest number of items that may be begun and not yet put,
	// so that one slow item delays a bounded number of others. Default 4 for
	// each worker; at least Workers.
	Window int
}

// Run is Stream for the items from o.From to o.To-1.
func Run[T any](ctx context.Context, o Options, work func(ctx context.Context, worker, i int) (T, error), put func(i int, v T, err error) error) error {
	return Stream(ctx, o, func(context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := o.From; i < o.To && yield(i); i++ {
			}
		}
	}, work, put)
}

// Stream calls work for each item in o.Workers goroutines, and put with the
// results, in order, on the calling goroutine. worker, from 0 to o.Workers-1,
// identifies the goroutine, for state that calls of work reuse.
//
// items makes the items one after another, on a goroutine of its own. It makes
// an item only once a place in the window is free, and at most one that no
// worker has begun. An item belongs to work once it is made, even if it is the
// last one that is wanted. items must end soon after its context ends.
//
// If put returns an error, Stream begins no further items and returns that
// error. If ctx ends, Stream begins no further items, puts the results of those
// already begun, and returns ctx's error. All goroutines have ended when Stream
// returns.
func Stream[I, T any](ctx context.Context, o Options, items func(ctx context.Context) iter.Seq[I], work func(ctx context.Context, worker int, item I) (T, error), put func(item I, v T, err error) error) error {
	if ctx.Err() != nil {
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
		item I
		done chan result // closed without a result if the task was not begun
	}
	// A place in the window is taken before the item is made, and freed once
	// the item is put.
	places := make(chan struct{}, max(o.Window, o.Workers))
	queue := make(chan task, cap(places))
	tasks := make(chan task)
	running, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	place := func() bool {
		select {
		case places <- struct{}{}:
			return running.Err() == nil
		case <-running.Done():
			return false
		}
	}
	all.Go(func() {
		defer close(queue)
		defer close(tasks)
		if !place() {
			return
		}
		for item := range items(running) {
			if running.Err() != nil {
				return
			}
			t := task{item, make(chan result, 1)}
			queue <- t // there is a place
			select {
			case tasks <- t:
			case <-running.Done():
				close(t.done)
				return
			}
			if !place() {
				return
			}
		}
	})
	for worker := range o.Workers {
		all.Go(func() {
			for t := range tasks {
				v, err := work(running, worker, t.item)
				t.done <- result{v, err}
			}
		})
	}
	for t := range queue {
		r, begun := <-t.done
		if !begun {
			break
		}
		if err := put(t.item, r.v, r.err); err != nil {
			return err
		}
		<-places
	}
	return ctx.Err()
}
