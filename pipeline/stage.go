package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/engine"
)

// The contract with package dataset, see package engine.
type (
	iterator  = engine.Iterator[*dataset.Sample]
	worker    = engine.Worker[*dataset.Sample]
	stageSpec = engine.Stage[*dataset.Sample]
)

// stage is an iterator whose work runs on goroutines: one that takes samples
// from the input, and the workers.
type stage struct {
	p     *Pipeline
	st    stageSpec
	c     *counters
	first worker // made by Pipeline.add

	ctx      context.Context
	cancel   context.CancelFunc
	free     chan *item // unused items
	work     chan *item // items that wait for a worker
	tickets  chan *item // all items in order
	quit     chan struct{}
	all      sync.WaitGroup
	inFlight atomic.Int64 // items that are not free
	mark     []int64      // the input's state after the last returned sample
	ended    error        // the error that Next returns from now on

	mu       sync.Mutex // guards the fields below, which the tuner reads and changes
	started  bool
	stopped  bool // by Pipeline.Close
	closed   bool
	workers  int // wanted
	queue    int // items
	running  int
	workerNo int
}

// item is a sample on its way.
type item struct {
	s         dataset.Sample
	err       error
	fromInput bool // err is the input's, not a worker's
	mark      []int64
	report    func() // reports the bad samples that the input dropped before this one; nil if none
	memory    int64
	done      chan struct{}
}

// maxItems bounds the queue that the tuner can choose.
const maxItems = 1024

func newStage(p *Pipeline, st stageSpec, workers, queue int) *stage {
	return &stage{p: p, st: st, workers: workers, queue: queue}
}

// start starts the goroutines. They get the values of ctx, but not its end:
// Close ends them.
func (s *stage) start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return dataset.ErrClosed
	}
	s.started = true
	if !s.st.Stateless {
		s.mark = s.st.In.Save(s.mark[:0])
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	n := max(maxItems, s.queue) // no channel is ever full
	s.free, s.work, s.tickets, s.quit = make(chan *item, n), make(chan *item, n), make(chan *item, n), make(chan struct{}, n)
	kept := s.c.takeKept()
	for i := range s.queue {
		if i < len(kept) {
			s.reuse(kept[i])
		} else {
			s.free <- newItem()
		}
	}
	s.c.queue.Store(int64(s.queue))
	s.recordSizes()
	for i := range s.workers {
		w := s.first
		if i > 0 {
			var err error
			if w, err = s.st.New(); err != nil {
				return err
			}
		}
		s.run(w)
	}
	s.all.Add(1)
	go s.feed()
	s.p.tune()
	return nil
}

func newItem() *item { return &item{done: make(chan struct{}, 1)} }

// reuse uses an item of an earlier epoch, with its buffers if the budget has
// room for them.
func (s *stage) reuse(it *item) {
	n := it.s.Memory()
	if !s.p.budget.fits(n) {
		it.s, n = dataset.Sample{}, 0
	}
	s.account(it, n)
	s.free <- it
}

// keep keeps the items of a stage whose goroutines have ended for the next
// epoch, so that it does not allocate their buffers again.
func (s *stage) keep() {
	for _, c := range []chan *item{s.free, s.tickets} { // the items in work have a ticket
		for len(c) > 0 {
			it := <-c
			*it = item{s: it.s, mark: it.mark[:0], done: make(chan struct{}, 1)}
			s.c.keep(it)
		}
	}
}

// run starts a worker. The caller holds s.mu.
func (s *stage) run(w worker) {
	s.running++
	s.workerNo++
	s.c.workers.Store(int64(s.running))
	s.all.Add(1)
	go s.serve(w, s.workerNo)
}

// feed takes samples from the input and queues them.
func (s *stage) feed() {
	defer s.all.Done()
	var it *item
	defer func() {
		if it != nil { // a user's function below called runtime.Goexit
			s.finish(it, errGoexit)
		}
	}()
	for {
		next, ok := s.acquire()
		if !ok {
			return
		}
		s.inFlight.Add(1)
		it = next
		it.fromInput = false
		begin := s.c.starved.begin()
		err := s.nextInput(&it.s)
		s.c.starved.end(begin)
		if it.mark = it.mark[:0]; !s.st.Stateless {
			it.mark = s.st.In.Save(it.mark)
		}
		it.report = s.st.Drain()
		s.account(it, max(it.s.Memory(), s.c.expect.Load()))
		if err != nil {
			s.finish(it, err)
			it = nil
			return
		}
		s.c.in.Add(1)
		it = nil
		s.tickets <- next
		s.work <- next
	}
}

// acquire returns a free item once the budget has room for its sample.
func (s *stage) acquire() (*item, bool) {
	begin := s.c.full.begin()
	defer func() { s.c.full.end(begin) }()
	var it *item
	select {
	case it = <-s.free:
	case <-s.ctx.Done():
		return nil, false
	}
	need, ok := s.p.budget.reserve(s.ctx, s, it.memory)
	if !ok {
		return nil, false
	}
	it.memory += need
	s.c.bytes.Add(need)
	return it, true
}

// nextInput takes the next sample from the input, and returns a panic as an
// error.
func (s *stage) nextInput(to *dataset.Sample) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("pipeline: below %s: %w", s.st.Path, &dataset.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	return s.st.In.Next(s.ctx, to)
}

// finish queues the last ticket, with an error.
func (s *stage) finish(it *item, err error) {
	it.err, it.fromInput = err, true
	it.done <- struct{}{}
	s.tickets <- it
}

// errGoexit reports a user's function that ended its goroutine.
var errGoexit = errors.New("a function called runtime.Goexit, as testing's FailNow does")

// account updates the budget with an item's memory.
func (s *stage) account(it *item, n int64) {
	s.p.budget.add(n - it.memory)
	s.c.bytes.Add(n - it.memory)
	it.memory = n
}

// serve runs a worker.
func (s *stage) serve(w worker, number int) {
	defer s.all.Done()
	if s.p.o.Pin {
		defer pin(number)()
	}
	var at *item
	defer func() {
		if at == nil {
			return
		}
		at.err = errGoexit
		s.account(at, at.s.Memory())
		s.c.known.Store(true)
		s.c.ready.Add(1)
		at.done <- struct{}{}
		s.p.budget.changed()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
		if w, err := s.st.New(); err == nil { // replace this worker
			s.run(w)
		}
	}()
	for {
		select {
		case it := <-s.work:
			at = it
			begin := s.c.busy.begin()
			it.err = w.Do(s.ctx, &it.s)
			took := s.c.busy.end(begin)
			at = nil
			s.p.o.Trace.event(s, number, begin, took, &it.s)
			n := it.s.Memory()
			s.c.expect.Store(max(n, s.c.expect.Load()*15/16))
			s.account(it, n)
			if !s.c.known.Swap(true) {
				s.p.budget.changed()
			}
			s.c.ready.Add(1)
			it.done <- struct{}{}
		case <-s.quit:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// Next redeems the next ticket.
func (s *stage) Next(ctx context.Context, to *dataset.Sample) error {
	if s.ended != nil {
		return s.ended
	}
	if s.ctx == nil {
		if err := s.start(ctx); err != nil {
			s.ended = err
			return err
		}
	}
	begin := s.c.waited.begin()
	it, err := s.redeem(ctx)
	s.c.waited.end(begin)
	if err != nil {
		s.ended = err
		return err
	}
	if it.err != nil && it.err != io.EOF && s.ctx.Err() != nil {
		// Close ends the work of this sample: it is not bad.
		s.ended = dataset.ErrClosed
		return s.ended
	}
	if it.report != nil {
		it.report()
		it.report = nil
	}
	if it.fromInput {
		s.mark = append(s.mark[:0], it.mark...)
		s.ended = it.err
		s.free <- it // for keep
		return s.ended
	}
	s.c.ready.Add(-1)
	*to, it.s = it.s, *to
	err = it.err
	if err != nil {
		s.c.errors.Add(1)
		if err = s.st.Failed(to, err); err != nil {
			s.ended = err // s.mark stays, so that a resumed run starts with this sample
			return err
		}
	}
	s.mark, it.mark = it.mark, s.mark
	if s.p.budget.tight() {
		it.s = dataset.Sample{}
	}
	s.account(it, it.s.Memory())
	s.inFlight.Add(-1)
	s.p.budget.changed()
	s.free <- it
	s.c.out.Add(1)
	return nil
}

// redeem waits until the item of the next ticket is done. After an error the
// stage has ended, and the ticket is lost.
func (s *stage) redeem(ctx context.Context) (*item, error) {
	var it *item
	select {
	case it = <-s.tickets:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ctx.Done():
		return nil, dataset.ErrClosed
	}
	select {
	case <-it.done:
		return it, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ctx.Done():
		return nil, dataset.ErrClosed
	}
}

// Save appends the input's state after the last returned sample.
func (s *stage) Save(w []int64) []int64 {
	switch {
	case s.st.Stateless:
		return w
	case s.ctx == nil:
		return s.st.In.Save(w)
	}
	return append(w, s.mark...)
}

// stop tells the goroutines to end, and does not wait for them.
func (s *stage) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.started {
		s.cancel()
	}
}

// Close ends the goroutines and closes the input.
func (s *stage) Close() error {
	s.mu.Lock()
	started, closed := s.started, s.closed
	s.closed = true // the tuner starts no more workers
	s.mu.Unlock()
	if closed {
		return nil
	}
	if started {
		s.cancel()
		s.all.Wait()
		if !s.p.isClosed() {
			s.keep()
		}
		s.p.budget.add(-s.c.bytes.Swap(0))
		s.c.workers.Store(0)
		s.c.ready.Store(0)
	}
	if s.ended == nil || s.ended == io.EOF {
		s.ended = dataset.ErrClosed
	}
	s.p.removed(s)
	return s.st.In.Close()
}

// resize changes the numbers of workers and items. It reports whether the stage
// runs and has all of them.
func (s *stage) resize(workers, queue int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started || s.closed || s.ctx.Err() != nil {
		return false
	}
	for s.running < workers {
		w, err := s.st.New()
		if err != nil {
			return false // continue with the existing workers
		}
		s.run(w)
	}
	for s.running > workers {
		s.running--
		s.c.workers.Store(int64(s.running))
		s.quit <- struct{}{}
	}
	s.workers = workers
	for s.queue < min(queue, cap(s.free)) {
		s.queue++
		s.c.queue.Add(1)
		s.free <- newItem()
	}
	s.recordSizes()
	return true
}

// recordSizes records the sizes. The queue comes first, since Pipeline.Tuning
// reads it last and wants at least one sample for each worker. The caller holds
// s.mu.
func (s *stage) recordSizes() {
	s.c.chosenQueue.Store(int64(s.queue))
	s.c.chosenWorkers.Store(int64(s.workers))
}

// size returns the numbers of workers and items.
func (s *stage) size() (workers, queue int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running, s.queue
}
