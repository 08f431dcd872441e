//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package clib

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Supported reports whether this program can load libraries.
const Supported = true

// Load loads the library at path and returns the address of one of its symbols.
// The library is never unloaded if it has the symbol. A path without a
// separator makes the system's loader search.
func Load(path, symbol string) (uintptr, error) { return load(path, symbol) }

// Call calls a C function with integers and pointers and returns its result. Go
// memory behind arguments that the call itself converts does not move until it
// returns.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// CallPair is Call for a function that returns a structure of 16 bytes without
// floats by value.
//
//go:uintptrescapes
func CallPair(fn uintptr, args ...uintptr) (first, second uintptr) {
	if runtime.GOOS == "windows" && runtime.GOARCH == "amd64" { // returned through memory
		result := new([2]uintptr)
		var pinned runtime.Pinner
		defer pinned.Unpin()
		pinned.Pin(result)
		purego.SyscallN(fn, append([]uintptr{uintptr(unsafe.Pointer(result))}, args...)...)
		return result[0], result[1]
	}
	first, second, _ = purego.SyscallN(fn, args...)
	return first, second
}

// arguments pools the arguments of Call8, since those of a variadic function
// that keeps them are allocated.
var arguments = sync.Pool{New: func() any { return new([8]uintptr) }}

// Call8 is Call without allocation, for a function of at most eight arguments.
// C functions ignore further ones.
//
//go:uintptrescapes
func Call8(fn, a, b, c, d, e, f, g, h uintptr) uintptr {
	args := arguments.Get().(*[8]uintptr)
	*args = [8]uintptr{a, b, c, d, e, f, g, h}
	r, _, _ := purego.SyscallN(fn, args[:]...)
	arguments.Put(args)
	return r
}

// At converts a C address to a pointer.
func At(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// Word returns the i-th pointer of the array at p.
func Word(p uintptr, i int) uintptr { return *(*uintptr)(unsafe.Add(At(p), i*8)) }

// maxString limits the length of a C string in bytes.
const maxString = 1 << 20

// String copies a C string. It returns "" for a null pointer.
func String(p uintptr) string {
	if p == 0 {
		return ""
	}
	n := 0
	for n < maxString && *(*byte)(unsafe.Add(At(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(At(p)), n))
}
