// Package plugin runs functions of shared libraries as ops: it registers the op
// plugin. It calls the libraries' C functions without cgo. infer_prep_plugin.h
// in the package's folder is the interface; examples/plugin has a library in C.
//
// A graph names a library, never a file. The program decides which file that
// is, with [Allow] or with the flag --allow-plugin of the command infer-prep. A
// graph that names any other library is refused with [ErrNotAllowed] when it is
// compiled. The package searches no folders and reads no environment variable.
//
// A library runs with all rights of the program and can crash it. Allow only
// libraries that you would link. The digest in a graph tells builds of a
// library apart; it does not protect from somebody who can change the file.
//
// An op has one input and one output. Its output must depend on its arguments
// and its input alone: there are no random plugin ops.
//
// Linux, Windows and macOS on amd64 and arm64 are supported. On other
// platforms, on Android, and with the build tag noclib, Allow and graphs with
// the op fail with [ErrUnsupported]. Programs that do not import this package,
// such as the npm package and the libraries for phones, do not know the op.
package plugin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/internal/clib"
)

// Kinds of errors, for errors.Is.
var (
	// ErrNotAllowed reports a graph with a library that the program has not
	// allowed.
	ErrNotAllowed = errors.New("library not allowed")
	// ErrLibrary reports a file that is not a library of this interface.
	ErrLibrary = errors.New("invalid plugin library")
	// ErrDigest reports a library that is not the one that a graph was made
	// with.
	ErrDigest = errors.New("other build of the library")
	// ErrUnsupported reports a program that cannot load libraries.
	ErrUnsupported = clib.ErrUnsupported
)

// Error is an error returned by a library's function.
type Error struct {
	Library  string // the library's name in graphs
	Function string // the op's name in the library
	Call     string // create, infer or apply
	Message  string // the library's text
}

func (e *Error) Error() string {
	return fmt.Sprintf("plugin: %s/%s: %s: %s", e.Library, e.Function, e.Call, e.Message)
}

// maxName is the largest length of a library's or op's name.
const maxName = 64

// isName reports whether s is 1 to 64 lower-case letters, digits and characters
// of more.
func isName(s, more string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(more, r)) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// checkLibrary refuses an invalid name of a library.
func checkLibrary(name string) error {
	if !isName(name, "_-") {
		return fmt.Errorf("library %q: want a name of 1 to %d characters a-z, 0-9, _ and -, not a path", name, maxName)
	}
	return nil
}
