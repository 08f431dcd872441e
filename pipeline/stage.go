package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
)

// stage is an Iterator that has its work done by goroutines: one that takes
// samples from below, and the workers.
type stage struct {
	p       *Pipeline
	st      dataset.Stage
	workers int // wanted
	queue   int // items
	c       *counters
	first   dataset.Worker // made beforehand

	started  bool
	closed   bool
	ctx      context.Context
	cancel   context.CancelFunc
	free     chan *item // may be filled again
	work     chan *item // wait for a worker
	tickets  chan *item // in order
	quit     chan struct{}
	all      sync.WaitGroup
	taken    atomic.Int64 // items that are not free
	mark     []int64      // the state below after the last sample given
	ended    error        // what Next gives from now on
	mu       sync.Mutex   // of workers, queue and running, which the tuner changes
	running  int
	workerNo atomic.Int64
}

// item is a sample on its way.
type item struct {
	s      dataset.Sample
	err    error
	below  bool // err is from below, not of the work
	mark   []int64
	memory int64
	done   chan struct{}
}

// mostItems bounds what the tuner can make of a queue.
const mostItems = 1024

func newStage(p *Pipeline, st dataset.Stage, workers, queue int) *stage {
	return &stage{p: p, st: st, workers: workers, queue: queue}
}

// start starts the goroutines.
func (s *stage) start() error {
	s.started = true
	s.mark = s.st.In.Save(s.mark[:0])
	s.ctx, s.cancel = context.WithCancel(s.p.ctx)
	room := max(mostItems, s.queue) // so that no send of an item ever waits
	s.free, s.work, s.tickets = make(chan *item, room), make(chan *item, room), make(chan *item, room)
	s.quit = make(chan struct{}, mostItems)
	for range s.queue {
		s.free <- &item{done: make(chan struct{}, 1)}
	}
	s.c.queue.Store(int64(s.queue))
	s.mu.Lock()
	defer s.mu.Unlock()
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
	go s.take()
	return nil
}

// run starts a worker. The stage is locked.
func (s *stage) run(w dataset.Worker) {
	s.running++
	s.c.workers.Store(int64(s.running))
	s.all.Add(1)
	go s.serve(w, int(s.workerNo.Add(1)))
}

// take takes samples from below and gives them tickets.
func (s *stage) take() {
	defer s.all.Done()
	for {
		var it *item
		begin := time.Now()
		select {
		case it = <-s.free:
		case <-s.ctx.Done():
			return
		}
		if s.p.budget.wait(s.ctx, &s.taken) != nil {
			return
		}
		s.c.full.Add(int64(time.Since(begin)))
		s.taken.Add(1)
		begin = time.Now()
		it.below = false
		it.err = s.st.In.Next(s.ctx, &it.s)
		it.mark = s.st.In.Save(it.mark[:0])
		s.c.starved.Add(int64(time.Since(begin)))
		s.account(it)
		if it.err != nil {
			it.below = true
			it.done <- struct{}{}
			s.tickets <- it
			return
		}
		s.c.in.Add(1)
		s.tickets <- it
		s.work <- it
	}
}

// account tells the budget of an item's memory.
func (s *stage) account(it *item) {
	n := it.s.Memory()
	s.p.budget.add(n - it.memory)
	s.c.bytes.Add(n - it.memory)
	it.memory = n
}

// serve is a worker.
func (s *stage) serve(w dataset.Worker, number int) {
	defer s.all.Done()
	if s.p.o.Pin {
		defer pin(number)()
	}
	for {
		select {
		case it := <-s.work:
			begin := time.Now()
			it.err = dataset.Do(w, &it.s)
			took := time.Since(begin)
			s.c.busy.Add(int64(took))
			s.p.o.Trace.event(s.st.Path, number, begin, took, &it.s)
			s.account(it)
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
	if !s.started {
		if err := s.start(); err != nil {
			s.ended = err
			return err
		}
	}
	begin := time.Now()
	var it *item
	select {
	case it = <-s.tickets:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	select {
	case <-it.done:
	case <-ctx.Done():
		// The ticket is redeemed by nobody: the stage cannot go on.
		s.ended = ctx.Err()
		return s.ended
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	s.c.waited.Add(int64(time.Since(begin)))
	if it.below {
		s.ended = it.err
		if it.err == io.EOF {
			s.mark = append(s.mark[:0], it.mark...)
		}
		return it.err
	}
	s.mark, it.mark = it.mark, s.mark
	*to, it.s = it.s, *to
	err := it.err
	s.account(it)
	if s.p.budget.over() {
		it.s = dataset.Sample{}
		s.account(it)
	}
	s.taken.Add(-1)
	s.p.budget.changed()
	s.free <- it
	s.c.out.Add(1)
	if err != nil {
		s.c.errors.Add(1)
		return s.st.Failed(to, err)
	}
	return nil
}

// Save gives the state below after the last sample given.
func (s *stage) Save(w []int64) []int64 {
	if !s.started {
		return s.st.In.Save(w)
	}
	return append(w, s.mark...)
}

// Close ends the goroutines and what is below.
func (s *stage) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.started {
		s.cancel()
		s.all.Wait()
		s.p.budget.add(-s.c.bytes.Swap(0))
	}
	s.ended = errors.Join(s.ended, dataset.ErrClosed)
	s.p.removed(s)
	return s.st.In.Close()
}

// resize wants so many workers and items. It is the tuner's.
func (s *stage) resize(workers, queue int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started || s.closed || s.ctx.Err() != nil {
		return
	}
	queue = min(queue, mostItems)
	for s.running < workers {
		w, err := s.st.New()
		if err != nil {
			return // it goes on with those it has
		}
		s.run(w)
	}
	for s.running > workers {
		s.running--
		s.c.workers.Store(int64(s.running))
		s.quit <- struct{}{}
	}
	s.workers = workers
	for s.queue < queue {
		s.queue++
		s.c.queue.Add(1)
		s.free <- &item{done: make(chan struct{}, 1)}
	}
	s.queue = queue
}
