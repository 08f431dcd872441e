//go:build unix

package modelbundle

import (
	"os"
	"syscall"
)

// mapFile maps the first n bytes of f; nil if the address space has no such room,
// or the file is of a kind that cannot be mapped.
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

func unmapFile(b []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(b)) }
