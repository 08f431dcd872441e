//go:build !(js && wasm)

package webgpu

import (
	"errors"
	"fmt"

	"github.com/gogpu/wgpu"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/gpu"
)

// The kinds of error beside those of package device, for errors.Is.
var (
	// ErrSoftware reports that only software renderers exist and the options do
	// not accept one. It is a device.ErrUnavailable.
	ErrSoftware = fmt.Errorf("%w: a software renderer, which software=true would accept", device.ErrUnavailable)
	// ErrLost reports that the driver lost the device. Close the device and
	// open it again.
	ErrLost = errors.New("the device was lost")
	// ErrOption reports an unknown option or an invalid value of one.
	ErrOption = errors.New("invalid option")
	// ErrRandom reports a graph with random ops, which inference does not
	// allow.
	ErrRandom = gpu.ErrRandom
	// ErrModel reports a model, or a call of Infer: this device runs no models.
	// It is a device.ErrUnavailable.
	ErrModel = fmt.Errorf("%w: it runs graphs, no models", device.ErrUnavailable)
	// ErrClosed reports the use of a closed session or device.
	ErrClosed = errors.New("closed")
)

// Error is an error of the GPU library or its driver.
type Error struct {
	Doing string // "creating a buffer of 64 bytes"
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("webgpu: %s: %v", e.Doing, e.Err) }

// Unwrap returns the cause. It is ErrLost for a lost device, under any name
// that the library uses.
func (e *Error) Unwrap() error { return e.Err }

// failed returns an *Error, or nil if err is nil.
func failed(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, wgpu.ErrDeviceLost) || errors.Is(err, wgpu.ErrMapDeviceLost) {
		err = fmt.Errorf("%w: %w", ErrLost, err)
	}
	return &Error{fmt.Sprintf(doing, args...), err}
}
