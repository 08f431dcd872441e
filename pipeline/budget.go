package pipeline

import (
	"context"
	"sync"
)

// budget bounds the bytes of samples in all queues.
//
// A stage reserves what a sample is expected to have when it is done, by those
// before it, since samples grow where they are decoded. As long as none was done
// it takes no more than its workers can work on. A stage that has nothing takes one
// sample always, or none would ever be given: so the most that is used is the limit
// and a sample for each stage, and what samples are larger than those before.
type budget struct {
	limit   int64
	mu      sync.Mutex
	used    int64
	peak    int64
	waiting int
	wake    chan struct{} // closed when something changes and somebody waits
}

func newBudget(limit int64) *budget { return &budget{limit: limit, wake: make(chan struct{})} }

// add counts bytes.
func (b *budget) add(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	b.peak = max(b.peak, b.used)
	if n < 0 {
		b.wakeAll()
	}
}

// changed wakes those who wait.
func (b *budget) changed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wakeAll()
}

func (b *budget) wakeAll() {
	if b.waiting > 0 {
		b.waiting = 0
		close(b.wake)
		b.wake = make(chan struct{})
	}
}

// tight reports whether memory that is not in use is to be let go of.
func (b *budget) tight() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used > b.limit || b.waiting > 0
}

// reserve waits for room for a sample of s in an item that has some memory
// already, and counts what it needs in addition. It is not ok when ctx ends.
func (b *budget) reserve(ctx context.Context, s *stage, memory int64) (need int64, ok bool) {
	for {
		taken := s.taken.Load()
		known := s.c.known.Load()
		need = max(s.c.expect.Load()-memory, 0)
		b.mu.Lock()
		if taken == 0 || b.used+need <= b.limit && (known || taken < s.c.workers.Load()) {
			b.used += need
			b.peak = max(b.peak, b.used)
			b.mu.Unlock()
			return need, true
		}
		b.waiting++
		wake := b.wake
		// What changed since it was looked at woke nobody.
		if s.taken.Load() != taken || s.c.known.Load() != known {
			b.waiting--
			b.mu.Unlock()
			continue
		}
		b.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return 0, false
		}
	}
}
