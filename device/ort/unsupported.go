//go:build !(((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib)

package ort

import (
	"fmt"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// open always fails: the library cannot be called on this platform.
func open(p Provider, options map[string]string) (device.Device, error) {
	if _, err := configure(p, options); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", device.ErrUnavailable, clib.Unsupported("ONNX Runtime"))
}
