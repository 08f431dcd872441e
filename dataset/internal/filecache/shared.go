//go:build linux || darwin || freebsd || netbsd || dragonfly

package filecache

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// shared reports whether several processes may use a file. It needs a system
// whose mappings show writes to the file at once.
const shared = true

// loadWord atomically loads the number that b starts with. b is aligned to 8
// bytes.
func loadWord(b []byte) uint64 {
	var w [8]byte
	binary.NativeEndian.PutUint64(w[:], atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[:8][0]))))
	return binary.LittleEndian.Uint64(w[:])
}
