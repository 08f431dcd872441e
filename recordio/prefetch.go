package recordio

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
)

// Prefetch makes values ahead on a goroutine of its own, of which a few are ready
// while others are worked on, and makes new ones in the memory of those that were
// recycled (dmlc-core's ThreadedIter). Next and Recycle may be called by several
// goroutines, Rewind and Close by one while no other calls anything.
type Prefetch[T any] struct {
	next   func(*T) error
	rewind func() error
	most   int

	mu    sync.Mutex
	cond  sync.Cond // signals every change
	ready []*T
	free  []*T
	err   error // after the last of ready
	stop  bool
	work  sync.WaitGroup
	alive bool
}

// NewPrefetch has next make values: it fills one, that may have been filled before,
// or returns io.EOF. At most ahead of them are ready at once. rewind begins anew; nil if nothing need be done.
// Nothing starts before the first Next.
func NewPrefetch[T any](ahead int, next func(*T) error, rewind func() error) *Prefetch[T] {
	p := &Prefetch[T]{next: next, rewind: rewind, most: max(ahead, 1)}
	p.cond.L = &p.mu
	return p
}

// start starts the goroutine. p is locked.
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

// make is next, with a panic made an error.
func (p *Prefetch[T]) make(x *T) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("recordio: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return p.next(x)
}

// Next is the next value, the caller's until Recycle; io.EOF at the end, or the
// error that next returned, again and again until Rewind.
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

// Recycle gives a value back, to be filled again.
func (p *Prefetch[T]) Recycle(x *T) {
	if x == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, x)
}

// halt ends the goroutine, which finishes what it is making, and recycles what is ready.
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

// Rewind begins anew, wherever it stands. What consumers still have they may recycle.
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

// Close ends the goroutine. Next then gives io.EOF.
func (p *Prefetch[T]) Close() {
	p.halt()
	p.err = io.EOF
}
