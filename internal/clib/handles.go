package clib

import "sync"

// Handles maps numbers, which C code keeps in place of Go pointers, to values.
// The zero value is ready to use. It is safe for concurrent use.
type Handles[T any] struct {
	mu   sync.Mutex
	last uintptr
	m    map[uintptr]T
}

// Add returns a number for v, never 0, that is valid until Remove.
func (h *Handles[T]) Add(v T) uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.m == nil {
		h.m = map[uintptr]T{}
	}
	h.last++
	h.m[h.last] = v
	return h.last
}

// Get returns the value of a number, the zero value if it has none.
func (h *Handles[T]) Get(n uintptr) T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.m[n]
}

// Remove forgets a number.
func (h *Handles[T]) Remove(n uintptr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.m, n)
}
