//go:build linux || darwin || freebsd || netbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Works says that the system has locks.
const Works = true

// Lock waits until no other process has the file locked, and locks it. The lock ends
// with the process, or when the file is closed.
func Lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// TryLock locks the file, or is ErrLocked at once.
func TryLock(f *os.File) error {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock ends the lock.
func Unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			return os.NewSyscallError("flock", err)
		}
	}
}
