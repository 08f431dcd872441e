//go:build unix && !aix && !solaris

// Package mapfile maps files into memory for reading, where the system can.
package mapfile

import (
	"os"
	"syscall"
)

// Map maps the first n bytes of f, which may be more than it has: what it grows by can
// then be read as soon as it is there. Nil if the address space has no such room, the file is of a
// kind that cannot be mapped, or the system maps none.
func Map(f *os.File, n int64) []byte {
	if n <= 0 || int64(int(n)) != n {
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(n), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

// Unmap lets go of what Map gave; of nil it does nothing.
func Unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return os.NewSyscallError("munmap", syscall.Munmap(b))
}
