//go:build cgo || wasip1

// Command lib is the Go part of the C library libinfer_prep, whose functions
// capi/infer_prep.h documents. It has two forms. cgo.go makes it a shared and a
// static library for capi/build.sh. wasm.go makes it a module of WebAssembly,
// which capi/wasm2c translates to C.
package main

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

func main() {}

// The kinds of handle.
const (
	kindGraph int32 = iota
	kindResult
	kindTokens
	kindVideo
)

// object is what a handle stands for.
type object interface {
	kind() int32
	close() // the host closed the handle
}

// handles are the objects that the host holds. A handle is never used again.
var handles = struct {
	sync.RWMutex
	last uintptr
	m    map[uintptr]object
}{m: map[uintptr]object{}}

func put(x object) uintptr {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.m[handles.last] = x
	return handles.last
}

func get[T object](h uintptr) (T, error) {
	handles.RLock()
	x, ok := handles.m[h].(T)
	handles.RUnlock()
	if !ok {
		return x, fmt.Errorf("infer_prep: handle %d: %w", h, errHandle)
	}
	return x, nil
}

func free(h uintptr, kind int32) int32 {
	handles.Lock()
	defer handles.Unlock()
	x := handles.m[h]
	if x == nil || x.kind() != kind {
		return ipHandle
	}
	x.close()
	delete(handles.m, h)
	return ipOK
}

// do calls f and returns the status of its error, or of its panic, which would
// end the host's process.
func do(e *ipError, f func() error) (status int32) {
	defer func() {
		if p := recover(); p != nil {
			status = fail(e, panicked(p))
		}
	}()
	if err := f(); err != nil {
		return fail(e, err)
	}
	return ipOK
}

// fail reports an error and returns its status.
func fail(e *ipError, err error) int32 {
	status := statusOf(err)
	setError(e, status, err.Error())
	return status
}

// bytesOf returns n bytes of the host, which it must not change during the
// call. They are never nil.
func bytesOf(p address, n uint64) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	if p == 0 || n > math.MaxInt {
		return nil, fmt.Errorf("infer_prep: %w: %d bytes at %#x", errInput, n, uintptr(p))
	}
	return unsafe.Slice((*byte)(p.pointer()), int(n)), nil
}

// goString returns a copy of a text of the host that ends with 0, "" for nil.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// sized is a struct of the header.
type sized interface {
	ipOptions | ipColumn | ipInput | ipTensor | ipImageInfo | ipTokenFiles | ipImageTokens | ipClip
}

// list is an array of the host's structs, which may be larger than this
// library's.
type list[T sized] struct {
	at      unsafe.Pointer
	n, step int
}

// listOf returns the n structs at p. Every one begins with its size.
func listOf[T sized](what string, p *T, n int32) (list[T], error) {
	l := list[T]{at: unsafe.Pointer(p), n: int(n)}
	if n <= 0 {
		if n < 0 {
			return l, fmt.Errorf("infer_prep: %w: %d structs of %s", errInput, n, what)
		}
		return l, nil
	}
	l.step = int(*(*uint32)(l.at))
	want := int(unsafe.Sizeof(*p))
	for i := range l.n {
		size := int(*(*uint32)(unsafe.Add(l.at, i*l.step)))
		if size < want || size != l.step || size%int(unsafe.Alignof(*p)) != 0 {
			return l, sizeError(what, i, size, want)
		}
	}
	return l, nil
}

func sizeError(what string, i, size, want int) error {
	return fmt.Errorf("infer_prep: %w: struct_size of %s %d is %d, want sizeof of the struct, %d", errInput, what, i, size, want)
}

// of returns struct i.
func (l list[T]) of(i int) *T { return (*T)(unsafe.Add(l.at, i*l.step)) }

// text copies a text into an array of the host and ends it with 0. A longer one
// is cut.
func text(to []byte, s string) { to[copy(to[:len(to)-1], s)] = 0 }

var (
	errInternal = errors.New("internal error")
	errInput    = errors.New("invalid argument")
	errHandle   = errors.New("no such object, or it is closed")
	errCapacity = errors.New("the memory is too small")
)
