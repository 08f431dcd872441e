// Package clib loads shared libraries of C and calls their functions, without
// cgo. Linux, Windows and macOS on amd64 and arm64 are supported. On other
// platforms, on Android, and with the build tag noclib, Load fails with
// [ErrUnsupported].
//
// On Linux, a program that links this package needs the C library's loader,
// even without cgo. The tag noclib makes the program static.
package clib

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// ErrUnsupported reports a program that cannot load libraries.
var ErrUnsupported = errors.New("shared libraries are not supported")

// Unsupported returns the error of a program that cannot load what, such as
// "plugins". It wraps ErrUnsupported.
func Unsupported(what string) error {
	return fmt.Errorf("%w: this program (%s/%s) cannot load %s; want linux, windows or darwin on amd64 or arm64, built without the tag noclib",
		ErrUnsupported, runtime.GOOS, runtime.GOARCH, what)
}

// Terminated returns s with a terminating zero.
func Terminated(s string) ([]byte, error) {
	if strings.ContainsRune(s, 0) {
		return nil, fmt.Errorf("%q has a zero byte", s)
	}
	return append([]byte(s), 0), nil
}
