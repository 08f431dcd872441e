// Command lib is the C library libinfer_prep, built by capi/build.sh with
// -buildmode=c-shared and c-archive. Its functions are those of
// capi/infer_prep.h, which documents them; shim.c calls the functions ipgo_ of
// this package.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/..
#include "infer_prep.h"

void ipc_set_error(ip_error *e, ip_status status, const char *text, size_t n);
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"unsafe"
)

func main() {}

// The kinds of handle that ipgo_free takes.
const (
	kindGraph = iota
	kindResult
	kindTokens
	kindVideo
)

// handles are the objects that the host holds. A handle is never used again.
var handles = struct {
	sync.RWMutex
	last uintptr
	m    map[uintptr]any
}{m: map[uintptr]any{}}

func put(x any) C.uintptr_t {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.m[handles.last] = x
	return C.uintptr_t(handles.last)
}

func get[T any](h C.uintptr_t) (T, error) {
	handles.RLock()
	x, ok := handles.m[uintptr(h)].(T)
	handles.RUnlock()
	if !ok {
		return x, fmt.Errorf("infer_prep: handle %d: %w", h, errHandle)
	}
	return x, nil
}

//export ipgo_free
func ipgo_free(h C.uintptr_t, kind C.int32_t) C.ip_status {
	handles.Lock()
	defer handles.Unlock()
	ok := false
	x := handles.m[uintptr(h)]
	switch kind {
	case kindGraph:
		_, ok = x.(*graph)
	case kindResult:
		var r *result
		if r, ok = x.(*result); ok {
			r.free()
		}
	case kindTokens:
		_, ok = x.(*processor)
	case kindVideo:
		_, ok = x.(*videoProcessor)
	}
	if !ok {
		return C.IP_HANDLE
	}
	delete(handles.m, uintptr(h))
	return C.IP_OK
}

// do calls f and returns the status of its error, or of its panic, which would
// end the host's process.
func do(e *C.ip_error, f func() error) (status C.ip_status) {
	defer func() {
		if p := recover(); p != nil {
			status = fail(e, fmt.Errorf("infer_prep: %w: %v\n%s", errInternal, p, debug.Stack()))
		}
	}()
	if err := f(); err != nil {
		return fail(e, err)
	}
	return C.IP_OK
}

// fail writes an error to *e and returns its status.
func fail(e *C.ip_error, err error) C.ip_status {
	status := statusOf(err)
	if e != nil {
		text := append([]byte(err.Error()), 0)
		C.ipc_set_error(e, status, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)-1))
	}
	return status
}

// bytesOf returns n bytes of the host, which it must not change during the
// call. They are never nil.
func bytesOf(p unsafe.Pointer, n uint64) ([]byte, error) {
	if n == 0 {
		return []byte{}, nil
	}
	if p == nil || n > math.MaxInt {
		return nil, fmt.Errorf("infer_prep: %w: %d bytes at %p", errInput, n, p)
	}
	return unsafe.Slice((*byte)(p), int(n)), nil
}

// sized is a struct of the header.
type sized interface {
	C.ip_options | C.ip_column | C.ip_input | C.ip_tensor | C.ip_image_info | C.ip_token_files | C.ip_image_tokens | C.ip_clip
}

// list is an array of the host's structs, which may be larger than this
// library's.
type list[T sized] struct {
	at      unsafe.Pointer
	n, step int
}

// listOf returns the n structs at p. Every one begins with its size.
func listOf[T sized](what string, p *T, n C.int32_t) (list[T], error) {
	l := list[T]{at: unsafe.Pointer(p), n: int(n)}
	if n <= 0 {
		if n < 0 {
			return l, fmt.Errorf("infer_prep: %w: %d structs of %s", errInput, n, what)
		}
		return l, nil
	}
	l.step = int(*(*C.uint32_t)(l.at))
	want := int(unsafe.Sizeof(*p))
	for i := range l.n {
		size := int(*(*C.uint32_t)(unsafe.Add(l.at, i*l.step)))
		if size < want || size != l.step || size%int(unsafe.Alignof(*p)) != 0 {
			return l, fmt.Errorf("infer_prep: %w: struct_size of %s %d is %d, want sizeof of the struct, %d", errInput, what, i, size, want)
		}
	}
	return l, nil
}

// of returns struct i.
func (l list[T]) of(i int) *T { return (*T)(unsafe.Add(l.at, i*l.step)) }

// text copies a text into an array of the host and ends it with 0. A longer one
// is cut.
func text(to []C.char, s string) {
	n := min(len(s), len(to)-1)
	for i := range n {
		to[i] = C.char(s[i])
	}
	to[n] = 0
}

var (
	errInternal = errors.New("internal error")
	errInput    = errors.New("invalid argument")
	errHandle   = errors.New("no such object, or it is closed")
	errCapacity = errors.New("the memory is too small")
)
