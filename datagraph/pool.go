package datagraph

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// Pool lends the Runners of one Plan. It bounds how many runs there are at
// once, and the memory of all of them together. It is safe for concurrent use.
type Pool struct {
	plan   *Plan
	lent   chan *lent // those that nobody has
	jobs   int64
	bytes  int64 // 0 means no limit
	memory *semaphore.Weighted
}

// PoolOptions are the options of a Pool. The zero value means the defaults.
type PoolOptions struct {
	// Jobs is the number of runs at once. Default: GOMAXPROCS.
	Jobs int
	// Bytes bounds the estimated memory of all runs together, in bytes. A run
	// that needs more than all of it waits until it is alone. Default: the
	// plan's Limits.Bytes; -1 means no limit.
	Bytes int64
}

// lent is a place in a pool, with the memory of earlier runs.
type lent struct {
	runner *Runner // nil until needed
	ctx    context.Context
	taken  int64
}

// NewPool returns a Pool of the plan.
func (p *Plan) NewPool(o PoolOptions) *Pool {
	if o.Jobs < 1 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Bytes == 0 {
		o.Bytes = p.options.Limits.Bytes
	}
	q := &Pool{plan: p, lent: make(chan *lent, o.Jobs), jobs: int64(o.Jobs), bytes: max(o.Bytes, 0)}
	if q.bytes > 0 {
		q.memory = semaphore.NewWeighted(q.bytes)
	}
	for range o.Jobs {
		q.lent <- &lent{}
	}
	return q
}

// Plan returns the plan that the Pool runs.
func (q *Pool) Plan() *Plan { return q.plan }

// Do calls use with a Runner, which is use's own until use returns, as are the
// outputs of its runs. Do waits for an idle Runner, and each run in use waits
// for memory; if ctx ends first, both return its cause. A Runner whose use
// panics is not lent again.
func (q *Pool) Do(ctx context.Context, use func(r *Runner) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	var l *lent
	select {
	case l = <-q.lent:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	r := l.runner
	l.runner = nil // use may panic
	defer func() {
		if l.taken > 0 {
			q.memory.Release(l.taken)
			if l.taken > q.bytes/q.jobs && l.runner != nil {
				l.runner = nil // an idle Runner must not hold more than its share
			}
			l.taken = 0
		}
		l.ctx = nil
		q.lent <- l
	}()
	if r == nil {
		r = q.plan.NewRunner()
		if q.memory != nil {
			r.admit = func(n int64) error { return q.admit(l, n) }
		}
	}
	l.ctx = ctx
	err := use(r)
	r.OnStep = nil
	l.runner = r
	return err
}

// admit waits for the memory of a run.
func (q *Pool) admit(l *lent, n int64) error {
	n = min(n, q.bytes) // the Runner itself enforces the limit of one run
	if n <= l.taken {
		return nil
	}
	// A second run of one use takes the place of the first.
	if l.taken > 0 {
		q.memory.Release(l.taken)
		l.taken = 0
	}
	if err := q.memory.Acquire(l.ctx, n); err != nil {
		return context.Cause(l.ctx)
	}
	l.taken = n
	return nil
}
