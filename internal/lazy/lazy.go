// Package lazy computes tables at their first use.
package lazy

import (
	"sync"
	"sync/atomic"
)

// Table is a table that is computed at its first use. It needs no
// initialisation, so the linker drops the tables that a program does not use. A
// variable of sync.OnceValue stays in every program.
//
// A Table is safe for concurrent use.
type Table[T any] struct {
	done atomic.Bool
	mu   sync.Mutex // guards the computation
	t    T
}

// Get returns the table. The first call computes it with fill.
func (l *Table[T]) Get(fill func(*T)) *T {
	if !l.done.Load() {
		l.compute(fill)
	}
	return &l.t
}

func (l *Table[T]) compute(fill func(*T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.done.Load() {
		fill(&l.t)
		l.done.Store(true)
	}
}
