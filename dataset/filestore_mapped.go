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
