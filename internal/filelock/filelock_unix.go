//go:build linux || darwin || freebsd || netbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Works reports whether the system supports locks.
const Works = true

// Lock waits until no other process holds the lock, and takes it. The lock ends
// with the process, or when the file is closed.
func Lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// TryLock takes the lock, or returns ErrLocked at once.
func TryLock(f *os.File) error {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Share waits until no other process holds the lock alone, and takes or turns
// it into one that many can hold.
func Share(f *os.File) error { return flock(f, syscall.LOCK_SH) }

// Unlock releases the lock.
func Unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}
