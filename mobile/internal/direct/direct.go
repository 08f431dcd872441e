// Package direct passes the memory of direct java.nio buffers from the
// bindings' C code to package mobile, as numbers: an address that Java could
// make up would not be safe.
package direct

import (
	"sync"
	"unsafe"
)

var (
	mu      sync.Mutex
	last    int64
	waiting = map[int64][]byte{}
)

// Register returns a number for n bytes at an address, for one call of Take. It
// returns 0 if there are none.
func Register(at unsafe.Pointer, n int64) int64 {
	if at == nil || n <= 0 || n != int64(int(n)) {
		return 0
	}
	mu.Lock()
	defer mu.Unlock()
	last++
	waiting[last] = unsafe.Slice((*byte)(at), int(n))
	return last
}

// Take returns the memory of a number that Register returned, and forgets the
// number. It returns nil for others.
func Take(number int64) []byte {
	mu.Lock()
	defer mu.Unlock()
	b := waiting[number]
	delete(waiting, number)
	return b
}
