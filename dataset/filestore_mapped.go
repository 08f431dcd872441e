//go:build linux || darwin || freebsd || netbsd || dragonfly

package dataset

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Systems whose mappings show at once what is written to the file.

// sharedFiles says that several processes may use a file.
const sharedFiles = true

// littleWord reads the number that b, aligned to 8 bytes, begins with, at once.
func littleWord(b []byte) uint64 {
	var w [8]byte
	binary.NativeEndian.PutUint64(w[:], atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[:8][0]))))
	return binary.LittleEndian.Uint64(w[:])
}
