//go:build linux || darwin || freebsd || netbsd || dragonfly

package dataset

import (
	"encoding/binary"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Systems whose mappings show at once what is written to the file, and which have flock.

// sharedFiles says that several processes may use a file.
const sharedFiles = true

// mapFile maps the first n bytes of f, more than it has: what it grows by can be
// read as soon as it is there. Nil if the address space has no such room.
func mapFile(f *os.File, n int64) []byte {
	if n <= 0 || int64(int(n)) != n {
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(n), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmapFile(b []byte) error {
	if b == nil {
		return nil
	}
	return syscall.Munmap(b)
}

func lockFile(f *os.File) error { return flock(f, syscall.LOCK_EX) }

func unlockFile(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}

// littleWord reads the number that b, aligned to 8 bytes, begins with, at once.
func littleWord(b []byte) uint64 {
	var w [8]byte
	binary.NativeEndian.PutUint64(w[:], atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[:8][0]))))
	return binary.LittleEndian.Uint64(w[:])
}
