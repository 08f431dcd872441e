package job

import (
	"context"
	"sync"
	"sync/atomic"
)

// kept bounds the memory of tensors that wait for the outcomes before them. No
// input is begun while it is full: the inputs before it go on and empty it. It
// can exceed its limit by one image of each worker.
type kept struct {
	limit int64 // 0 means no limit
	bytes atomic.Int64
	less  chan struct{} // of capacity 1; holds a value after bytes shrank
}

// add adds n bytes, or removes them if n is negative.
func (k *kept) add(n int64) {
	if k.bytes.Add(n); n < 0 {
		select {
		case k.less <- struct{}{}:
		default:
		}
	}
}

// wait waits until there is room. It reports false once ctx has ended.
func (k *kept) wait(ctx context.Context) bool {
	for k.limit > 0 && k.bytes.Load() >= k.limit {
		select {
		case <-k.less:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// budget bounds the memory of all workers together. A request beyond the total
// is granted when no other is active: the decoder and the Runner enforce the
// limit of one image.
type budget struct {
	mu    sync.Mutex
	free  sync.Cond
	total int64 // 0 means no limit
	used  int64
}

func newBudget(total int64) *budget {
	b := &budget{total: total}
	b.free.L = &b.mu
	return b
}

func (b *budget) take(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.total > 0 && b.used > 0 && b.used+n > b.total {
		b.free.Wait()
	}
	b.used += n
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
	b.free.Broadcast()
}
