package recordio

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
)

// Prefetch produces values ahead of their use, on its own goroutine, and reuses
// the memory of recycled values. It is dmlc-core's ThreadedIter. Next and
// Recycle are safe for concurrent use. Rewind and Close must not run at the
// same time as any other method.
type Prefetch[T any] struct {
	next   func(*T) error
	rewind func() error
	most   int

	mu    sync.Mutex
	cond  sync.Cond // signaled at every change
	ready []*T
	free  []*T
	err   error // returned after the last of ready
	stop  bool
	work  sync.WaitGroup
	alive bool
}

// NewPrefetch returns a Prefetch of the values of next, which fills a new or a
// recycled value, or returns io.EOF. It keeps at most ahead values ready, at
// least 1. Rewind calls rewind, which may be nil. The goroutine starts at the
// first Next.
func NewPrefetch[T any](ahead int, next func(*T) error, rewind func() error) *Prefetch[T] {
	p := &Prefetch[T]{next: next, rewind: rewind, most: max(ahead, 1)}
	p.cond.L = &p.mu
	return p
}

// start starts the goroutine. p.mu is locked.
func (p *Prefetch[T]) start() {
	p.alive, p.stop = true, false
	p.work.Go(p.produce)
}

func (p *Prefetch[T]) produce() {
	p.mu.Lock()
	making := false
	defer func() {
		if making { // next called runtime.Goexit
			p.mu.Lock()
			p.err = errors.New("recordio: the function that makes values ended its goroutine")
			p.cond.Broadcast()
		}
		p.mu.Unlock()
	}()
	for {
		for !p.stop && len(p.ready) >= p.most {
			p.cond.Wait()
		}
		if p.stop || p.err != nil {
			return
		}
		x := new(T)
		if n := len(p.free); n > 0 {
			x, p.free = p.free[n-1], p.free[:n-1]
		}
		making = true
		p.mu.Unlock()
		err := p.make(x)
		p.mu.Lock()
		making = false
		if err != nil {
			p.free = append(p.free, x)
			p.err = err
		} else {
			p.ready = append(p.ready, x)
		}
		p.cond.Broadcast()
	}
}

// make calls next and turns a panic into an error.
func (p *Prefetch[T]) make(x *T) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("recordio: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return p.next(x)
}

// Next returns the next value, which the caller owns until Recycle. It returns
// io.EOF at the end, or the error of next, at every call until Rewind.
func (p *Prefetch[T]) Next() (*T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive && p.err == nil {
		p.start()
	}
	for len(p.ready) == 0 && p.err == nil {
		p.cond.Wait()
	}
	if len(p.ready) == 0 {
		return nil, p.err
	}
	x := p.ready[0]
	p.ready = append(p.ready[:0], p.ready[1:]...)
	p.cond.Broadcast()
	return x, nil
}

// Recycle returns a value, to be filled again.
func (p *Prefetch[T]) Recycle(x *T) {
	if x == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, x)
}

// halt stops the goroutine after the current value, and recycles the ready
// values.
func (p *Prefetch[T]) halt() {
	p.mu.Lock()
	p.stop = true
	p.cond.Broadcast()
	p.mu.Unlock()
	p.work.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, p.ready...)
	p.ready, p.alive, p.err = nil, false, nil
}

// Rewind starts again from the beginning, from any state. Values that consumers
// still hold may be recycled later.
func (p *Prefetch[T]) Rewind() error {
	p.halt()
	if p.rewind == nil {
		return nil
	}
	err := p.rewind()
	if err != nil {
		p.err = err
	}
	return err
}

// Close stops the goroutine. Next then returns io.EOF.
func (p *Prefetch[T]) Close() {
	p.halt()
	p.err = io.EOF
}
