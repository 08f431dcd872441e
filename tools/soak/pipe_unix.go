//go:build unix && !aix && !solaris

package main

import "syscall"

func namedPipe(path string) error { return syscall.Mkfifo(path, 0o666) }
