//go:build !(linux || darwin || freebsd || netbsd || dragonfly)

package filelock

import "os"

// Works reports whether the system supports locks.
const Works = false

// Lock does nothing.
func Lock(*os.File) error { return nil }

// TryLock does nothing.
func TryLock(*os.File) error { return nil }

// Share does nothing.
func Share(*os.File) error { return nil }

// Unlock does nothing.
func Unlock(*os.File) error { return nil }
