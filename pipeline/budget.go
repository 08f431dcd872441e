package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
)

// budget bounds the bytes of samples in all queues.
type budget struct {
	limit int64
	mu    sync.Mutex
	used  int64
	wake  chan struct{} // closed when something changes
}

func newBudget(limit int64) *budget { return &budget{limit: limit, wake: make(chan struct{})} }

// add counts bytes.
func (b *budget) add(n int64) {
	b.mu.Lock()
	b.used += n
	b.mu.Unlock()
	if n < 0 {
		b.changed()
	}
}

// changed wakes those who wait.
func (b *budget) changed() {
	b.mu.Lock()
	close(b.wake)
	b.wake = make(chan struct{})
	b.mu.Unlock()
}

// over reports whether more is used than the limit.
func (b *budget) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used > b.limit
}

// wait waits until there is room, or the stage that asks has nothing taken: one
// sample each goes on always, or none would ever be given.
func (b *budget) wait(ctx context.Context, taken *atomic.Int64) error {
	for {
		b.mu.Lock()
		ok, wake := b.used < b.limit, b.wake
		b.mu.Unlock()
		if ok || taken.Load() == 0 {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
