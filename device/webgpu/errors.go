//go:build !(js && wasm)

package webgpu

import (
	"errors"
	"fmt"

	"github.com/gogpu/wgpu"
	"github.com/infer-prep/infer-prep/device"
)

// The kinds of error beside those of package device, for errors.Is.
var (
	// ErrSoftware: there are only software renderers, and none was asked for.
	// It is a device.ErrUnavailable.
	ErrSoftware = fmt.Errorf("%w: a software renderer, which software=true would accept", device.ErrUnavailable)
	// ErrLost: the driver gave the device up. It must be closed and opened
	// again.
	ErrLost = errors.New("the device was lost")
	// ErrOption: an option that the driver does not know, or a value that it
	// does not take.
	ErrOption = errors.New("invalid option")
	// ErrRandom: the graph has random ops, which inference has not.
	ErrRandom = errors.New("the graph has random ops")
	// ErrModel: a model was given, or inference was asked for. It is a
	// device.ErrUnavailable.
	ErrModel = fmt.Errorf("%w: it runs graphs, no models", device.ErrUnavailable)
	// ErrClosed: the session or the device was closed before.
	ErrClosed = errors.New("closed")
)

// Error is what the GPU library or its driver refused.
type Error struct {
	Doing string // "creating a buffer of 64 bytes"
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("webgpu: %s: %v", e.Doing, e.Err) }

// Unwrap gives the cause; ErrLost for a lost device, whatever the library calls
// it.
func (e *Error) Unwrap() error { return e.Err }

// failed is an *Error, nil for nil.
func failed(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, wgpu.ErrDeviceLost) || errors.Is(err, wgpu.ErrMapDeviceLost) {
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	return &Error{fmt.Sprintf(doing, args...), err}
}

// tooLarge says why a step cannot run on the device with these sizes. It never
// reaches the caller as long as the host can take over.
type tooLarge struct{ why string }

func (e *tooLarge) Error() string { return "webgpu: " + e.why }

func tooLargef(format string, args ...any) error { return &tooLarge{fmt.Sprintf(format, args...)} }
