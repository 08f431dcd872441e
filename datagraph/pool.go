package datagraph

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/infer-prep/infer-prep/tensor"
)

// Pool lends the Runners of one Plan. It bounds how many runs there are at
// once, and the memory of all of them together. It is safe for concurrent use.
type Pool struct {
	plan   *Plan
	jobs   chan struct{} // holds a value for each run
	bytes  int64         // 0 means no limit
	memory *semaphore.Weighted

	mu   sync.Mutex
	idle []*lent // the last one ran last: its memory is in the caches
}

// PoolOptions are the options of a Pool. The zero value means the defaults.
type PoolOptions struct {
	// Jobs is the number of runs at once. A run that begins while there are
	// fewer may decode its image with the other goroutines. Default:
	// GOMAXPROCS.
	Jobs int
	// Bytes bounds the estimated memory of all runs and their encoded inputs
	// together, in bytes. A run that needs more than all of it waits until it
	// is alone. Default: the plan's Limits.Bytes; -1 means no limit.
	Bytes int64
}

// lent is a Runner of a Pool.
type lent struct {
	runner *Runner
	ctx    context.Context // of its use
	taken  int64           // bytes of memory
}

// NewPool returns a Pool of the plan.
func (p *Plan) NewPool(o PoolOptions) *Pool {
	if o.Jobs < 1 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Bytes == 0 {
		o.Bytes = p.options.Limits.Bytes
	}
	q := &Pool{plan: p, jobs: make(chan struct{}, o.Jobs), bytes: max(o.Bytes, 0)}
	if q.bytes > 0 {
		q.memory = semaphore.NewWeighted(q.bytes)
	}
	return q
}

// Plan returns the plan that the Pool runs.
func (q *Pool) Plan() *Plan { return q.plan }

// Jobs returns the number of runs at once.
func (q *Pool) Jobs() int { return cap(q.jobs) }

// Do calls use with a Runner, which is use's own until use returns, as are the
// outputs of its runs. Do waits for an idle Runner, and each run in use waits
// for memory; if ctx ends first, both return its cause. A Runner whose use
// panics is not lent again.
func (q *Pool) Do(ctx context.Context, use func(r *Runner) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case q.jobs <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l := q.take()
	l.ctx = ctx
	l.runner.scratch.SetWorkers(1 + cap(q.jobs) - len(q.jobs))
	sound := false
	defer func() { q.give(l, sound) }()
	err := use(l.runner)
	sound = true
	return err
}

// take returns an idle Runner, or a new one.
func (q *Pool) take() *lent {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(q.idle); n > 0 {
		l := q.idle[n-1]
		q.idle = q.idle[:n-1]
		return l
	}
	l := &lent{runner: q.plan.NewRunner()}
	if q.memory != nil { // else runs need no estimate
		l.runner.admit = func() error { return q.begin(l) }
	}
	return l
}

// give takes a Runner back, and drops it if it is not sound or holds more than
// its share of the memory.
func (q *Pool) give(l *lent, sound bool) {
	if l.taken > 0 {
		q.memory.Release(l.taken)
		sound = sound && l.taken <= q.bytes/int64(cap(q.jobs))
	}
	l.ctx, l.taken = nil, 0
	l.runner.OnStep, l.runner.admitted = nil, false
	if sound {
		q.mu.Lock()
		q.idle = append(q.idle, l)
		q.mu.Unlock()
	}
	<-q.jobs
}

// Admit waits until the Runner's Pool has the memory for a run on these inputs,
// and returns the estimate, which is valid until the next Admit or Run. Run of
// the same inputs must follow: it neither waits nor reads their headers again.
// A device may run them instead. Run itself admits inputs that were not
// admitted. Without a Pool, Admit only estimates.
func (r *Runner) Admit(inputs ...*tensor.Tensor) (Costs, error) {
	if r.admit == nil {
		r.scratch.BeginRun()
		err := r.estimate(&r.estimated, inputs)
		return r.estimated, err
	}
	r.inputs = append(r.inputs[:0], inputs...)
	if err := r.admit(); err != nil {
		return Costs{}, err
	}
	r.admitted = true
	return r.estimated, nil
}

// begin begins a run: it reads the headers of the inputs and waits for memory.
func (q *Pool) begin(l *lent) error {
	r := l.runner
	r.scratch.BeginRun()
	if err := r.estimate(&r.estimated, r.inputs); err != nil {
		return err
	}
	n := r.estimated.Memory()
	for _, t := range r.inputs {
		if t.DType == tensor.Bytes {
			n += int64(len(t.Data))
		}
	}
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
