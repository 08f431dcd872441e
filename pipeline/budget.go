package pipeline

import (
	"context"
	"sync"
)

// budget bounds the bytes of samples in all queues.
//
// A stage reserves the expected size of a finished sample, estimated from
// earlier ones, since samples grow when they are decoded. Until the first
// sample is finished, a stage takes at most one sample for each worker. An
// empty stage may always take one sample, or the pipeline would stall. So the
// budget may be exceeded by one sample for each stage, and by samples larger
// than expected.
type budget struct {
	limit   int64
	mu      sync.Mutex
	used    int64
	peak    int64
	waiting int
	wake    chan struct{} // closed at a change while a stage waits
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

// changed wakes the waiting stages.
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

// fits reports whether there is room for n bytes.
func (b *budget) fits(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used+n <= b.limit
}

// tight reports whether to free unused buffers.
func (b *budget) tight() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used > b.limit || b.waiting > 0
}

// reserve waits for room for a sample of s, in an item that already has memory
// bytes. It adds the bytes that the item still needs and returns them. ok is
// false if ctx ended.
func (b *budget) reserve(ctx context.Context, s *stage, memory int64) (need int64, ok bool) {
	for {
		inFlight := s.inFlight.Load()
		known := s.c.known.Load()
		need = max(s.c.expect.Load()-memory, 0)
		b.mu.Lock()
		if inFlight == 0 || b.used+need <= b.limit && (known || inFlight < s.c.workers.Load()) {
			b.used += need
			b.peak = max(b.peak, b.used)
			b.mu.Unlock()
			return need, true
		}
		b.waiting++
		wake := b.wake
		// A change since the first look has not woken this stage.
		if s.inFlight.Load() != inFlight || s.c.known.Load() != known {
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
