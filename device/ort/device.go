//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// ortDevice is an execution provider of a loaded library.
type ortDevice struct {
	p         Provider
	c         config
	a         *api
	env       uintptr
	host      uintptr   // OrtMemoryInfo of host memory
	own       uintptr   // OrtMemoryInfo of the provider's memory, 0 if none
	epDevices []uintptr // the devices of a provider library
	library   string    // the name under which the provider library is registered
	sessions  atomic.Int64
}

// logFatal is ORT_LOGGING_LEVEL_FATAL of OrtLoggingLevel, onnxruntime_c_api.h.
// Returned errors carry their message, so ORT need not print them.
const logFatal = 4

// The constants are OrtDeviceAllocator of OrtAllocatorType and
// OrtMemTypeDefault of OrtMemType, onnxruntime_c_api.h.
const (
	deviceAllocator = 0
	memTypeDefault  = 0
)

// open opens a provider.
func open(p Provider, options map[string]string) (_ device.Device, err error) {
	c, err := configure(p, options)
	if err != nil {
		return nil, err
	}
	path, err := findLibrary(c.lib)
	if err != nil {
		return nil, err
	}
	a, err := loadAPI(path)
	if err != nil {
		return nil, err
	}
	d := &ortDevice{p: p, c: c, a: a}
	defer func() {
		if err != nil {
			d.release()
		}
	}()
	id, err := clib.Terminated("infer-prep")
	if err != nil {
		return nil, err
	}
	if err = a.made(handleEnv, a.status(slotCreateEnv, logFatal, uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(&d.env)))); err != nil {
		d.env = 0
		return nil, err
	}
	if d.host, err = a.memory("Cpu"); err != nil {
		return nil, err
	}
	if c.epLibrary != "" {
		if err = d.register(); err != nil {
			return nil, err
		}
	} else {
		var have []string
		if have, err = a.available(); err != nil {
			return nil, err
		}
		if !slices.Contains(have, p.EP) {
			return nil, fmt.Errorf("%w: the library %s (%s) has %s, and not %s; want another library, or ep_library=PATH",
				device.ErrUnavailable, a.path, a.version, strings.Join(have, ", "), p.EP)
		}
	}
	if p.memory != "" {
		if d.own, err = a.memory(p.memory); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// memory creates an OrtMemoryInfo.
func (a *api) memory(name string) (uintptr, error) {
	n, err := clib.Terminated(name)
	if err != nil {
		return 0, err
	}
	var m uintptr
	err = a.made(handleMemory, a.status(slotCreateMemoryInfo, uintptr(unsafe.Pointer(&n[0])), deviceAllocator, 0, memTypeDefault, uintptr(unsafe.Pointer(&m))))
	return m, err
}

// libraries counts the registered provider libraries, to give each a name.
var libraries atomic.Int64

// register loads the provider library and finds its devices.
func (d *ortDevice) register() error {
	a := d.a
	path, err := pathArg(d.c.epLibrary)
	if err != nil {
		return err
	}
	// Some libraries interpret the first letters of the name under which they
	// are registered.
	name := fmt.Sprintf("%s.%d", cmpOr(d.c.ep, "infer-prep"), libraries.Add(1))
	n, err := clib.Terminated(name)
	if err != nil {
		return err
	}
	before, err := d.devices()
	if err != nil {
		return err
	}
	if err := a.status(slotRegisterProviderLibrary, d.env, uintptr(unsafe.Pointer(&n[0])), uintptr(unsafe.Pointer(&path[0]))); err != nil {
		return fmt.Errorf("%w: ep_library=%s: %w", device.ErrUnavailable, d.c.epLibrary, err)
	}
	d.library = name
	all, err := d.devices()
	if err != nil {
		return err
	}
	var eps []string
	for _, e := range all {
		if slices.Contains(before, e) {
			continue
		}
		ep := clib.String(clib.Call(clib.Word(a.table, int(slotEpDeviceEpName)), e))
		if !slices.Contains(eps, ep) {
			eps = append(eps, ep)
		}
		if d.c.ep == "" || d.c.ep == ep {
			d.epDevices = append(d.epDevices, e)
		}
	}
	switch {
	case len(eps) == 0:
		return fmt.Errorf("%w: ep_library=%s finds no device here", device.ErrUnavailable, d.c.epLibrary)
	case len(d.epDevices) == 0:
		return fmt.Errorf("%w: ep_library=%s has devices of %s, and not of %s", device.ErrUnavailable, d.c.epLibrary, strings.Join(eps, ", "), d.c.ep)
	case d.c.ep == "" && len(eps) > 1:
		return fmt.Errorf("ep_library=%s has devices of %s, want ep=NAME", d.c.epLibrary, strings.Join(eps, ", "))
	}
	d.p.EP = eps[0]
	if d.c.ep != "" {
		d.p.EP = d.c.ep
	}
	return nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// devices lists the OrtEpDevices.
func (d *ortDevice) devices() ([]uintptr, error) {
	var list, n uintptr
	if err := d.a.status(slotGetEpDevices, d.env, uintptr(unsafe.Pointer(&list)), uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	var l []uintptr
	for i := range int(n) {
		l = append(l, clib.Word(list, i))
	}
	return l, nil
}

// Name returns "ort:" and the provider's name.
func (d *ortDevice) Name() string { return prefix + d.p.Name }

func (d *ortDevice) lower(p *datagraph.Plan) (*lowered, error) {
	l, err := lower(p.Graph(), d.c.form, d.Name(), d.c.claim)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	return l, nil
}

// Place returns where each step would run.
func (d *ortDevice) Place(p *datagraph.Plan) (device.Placement, error) {
	l, err := d.lower(p)
	if err != nil {
		return nil, err
	}
	return l.placement, nil
}

// Close releases the device. It fails while sessions are open.
func (d *ortDevice) Close() error {
	if n := d.sessions.Load(); n > 0 {
		return fmt.Errorf("%s: %d sessions are open", d.Name(), n)
	}
	return d.release()
}

// release releases the device's objects in reverse order of creation.
func (d *ortDevice) release() error {
	var err error
	if d.library != "" {
		d.epDevices = nil
		var n []byte
		if n, err = clib.Terminated(d.library); err == nil {
			err = d.a.status(slotUnregisterProviderLibrary, d.env, uintptr(unsafe.Pointer(&n[0])))
		}
		d.library = ""
	}
	d.a.release(handleMemory, slotReleaseMemoryInfo, &d.own)
	d.a.release(handleMemory, slotReleaseMemoryInfo, &d.host)
	d.a.release(handleEnv, slotReleaseEnv, &d.env)
	return err
}

var errClosed = errors.New("the session is closed")
