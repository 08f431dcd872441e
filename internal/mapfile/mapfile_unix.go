//go:build unix && !aix && !solaris

// Package mapfile maps files into memory for reading, if the system supports
// it.
package mapfile

import (
	"os"
	"syscall"
)

// Map maps the first n bytes of f. n may exceed the file's size: bytes that are
// appended later become readable at once. Map returns nil if the mapping fails
// or the system has no support.
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

// Unmap releases a mapping of Map. It does nothing for nil.
func Unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return os.NewSyscallError("munmap", syscall.Munmap(b))
}
