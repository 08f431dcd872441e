//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// api is a loaded library with its function table.
type api struct {
	path    string
	version string // "1.31.1"
	minor   int    // the newest API version of the library
	table   uintptr
	live    [handles]atomic.Int64 // objects created and not yet released, for tests
}

// handle is the kind of an object that must be released.
type handle int

const (
	handleEnv handle = iota
	handleOptions
	handleSession
	handleValue
	handleInfo // of tensors and types
	handleMemory
	handleRun
	handleBinding
	handles
)

var (
	loaded   = map[string]*api{}
	loadedMu sync.Mutex
)

// loadAPI loads the library at path. It loads each path once.
func loadAPI(path string) (*api, error) {
	if strings.ContainsRune(path, filepath.Separator) {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		path = abs
	}
	loadedMu.Lock()
	defer loadedMu.Unlock()
	if a := loaded[path]; a != nil {
		return a, nil
	}
	base, err := clib.Load(path, "OrtGetApiBase")
	if err != nil && filepath.Base(path) == path { // no file was found, so the system's loader searched
		return nil, missing(err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", device.ErrUnavailable, path, err)
	}
	// OrtApiBase: GetApi, GetVersionString.
	b := clib.Call(base)
	if b == 0 {
		return nil, fmt.Errorf("%w: %s: OrtGetApiBase gives nothing", device.ErrUnavailable, path)
	}
	a := &api{path: path, version: clib.String(clib.Call(clib.Word(b, 1)))}
	parts := strings.SplitN(a.version, ".", 3)
	if len(parts) < 2 || parts[0] != "1" {
		return nil, fmt.Errorf("%w: %s: version %q of ONNX Runtime, want 1.%d or newer", device.ErrUnavailable, path, a.version, apiBase)
	}
	if a.minor, err = strconv.Atoi(parts[1]); err != nil || a.minor < apiBase {
		return nil, fmt.Errorf("%w: %s: version %q of ONNX Runtime, want 1.%d or newer", device.ErrUnavailable, path, a.version, apiBase)
	}
	// Request the newest version in use. Every version extends the same table.
	want := apiBase
	for _, v := range []int{apiLibraries, apiAssignment} {
		if a.minor >= v {
			want = v
		}
	}
	if a.table = clib.Call(clib.Word(b, 0), uintptr(want)); a.table == 0 {
		return nil, fmt.Errorf("%w: %s: version %s of ONNX Runtime does not give out API %d", device.ErrUnavailable, path, a.version, want)
	}
	loaded[path] = a
	return a, nil
}

// cStrings returns an array of C strings, whose memory p pins.
func cStrings(p *runtime.Pinner, l []string) ([]uintptr, error) {
	a := make([]uintptr, len(l)+1) // never empty, so that it has an address
	for i, s := range l {
		b, err := clib.Terminated(s)
		if err != nil {
			return nil, err
		}
		p.Pin(&b[0])
		a[i] = uintptr(unsafe.Pointer(&b[0]))
	}
	return a, nil
}

// has reports whether the library is new enough for the slot.
func (a *api) has(s slot) bool { return a.minor >= s.since() }

// status calls a function that returns an OrtStatus and converts it to a Go
// error.
//
//go:uintptrescapes
func (a *api) status(s slot, args ...uintptr) error {
	if !a.has(s) {
		return fmt.Errorf("%w: %v needs ONNX Runtime 1.%d or newer, the library %s is %s", device.ErrUnavailable, s, s.since(), a.path, a.version)
	}
	fn := clib.Word(a.table, int(s))
	if fn == 0 { // some builds omit functions
		return fmt.Errorf("%w: the library %s has no %v", device.ErrUnavailable, a.path, s)
	}
	st := clib.Call(fn, args...)
	if st == 0 {
		return nil
	}
	e := &Error{
		Call:    s.String(),
		Code:    int(int32(clib.Call(clib.Word(a.table, int(slotGetErrorCode)), st))),
		Message: strings.TrimSpace(clib.String(clib.Call(clib.Word(a.table, int(slotGetErrorMessage)), st))),
	}
	a.void(slotReleaseStatus, st)
	return e
}

// void calls a function that returns nothing.
//
//go:uintptrescapes
func (a *api) void(s slot, args ...uintptr) { clib.Call(clib.Word(a.table, int(s)), args...) }

// made counts a created object if err is nil.
func (a *api) made(h handle, err error) error {
	if err == nil {
		a.live[h].Add(1)
	}
	return err
}

// release releases the object, if any, and clears the pointer.
func (a *api) release(h handle, s slot, p *uintptr) {
	if *p == 0 {
		return
	}
	a.void(s, *p)
	a.live[h].Add(-1)
	*p = 0
}

// allocated copies a string from ORT's default allocator and frees it.
func (a *api) allocated(p uintptr) (string, error) {
	s := clib.String(p)
	alloc, err := a.allocator()
	if err != nil {
		return "", err
	}
	return s, a.status(slotAllocatorFree, alloc, p)
}

// allocator returns the default allocator, which must not be released.
func (a *api) allocator() (uintptr, error) {
	var alloc uintptr
	err := a.status(slotGetAllocatorWithDefault, uintptr(unsafe.Pointer(&alloc)))
	return alloc, err
}

// available lists the execution providers of the library.
func (a *api) available() ([]string, error) {
	var list uintptr
	var n int32
	if err := a.status(slotGetAvailableProviders, uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	var l []string
	for i := range int(n) {
		l = append(l, clib.String(clib.Word(list, i)))
	}
	return l, a.status(slotReleaseAvailableProviders, list, uintptr(n))
}
