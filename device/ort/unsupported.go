//go:build !(((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noort)

package ort

import (
	"fmt"
	"runtime"

	"github.com/infer-prep/infer-prep/device"
)

// open always fails: the library cannot be called on this platform.
func open(p Provider, options map[string]string) (device.Device, error) {
	if _, err := configure(p, options); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: this program cannot load ONNX Runtime (%s/%s); want linux, windows or darwin on amd64 or arm64, built without the tag noort",
		device.ErrUnavailable, runtime.GOOS, runtime.GOARCH)
}
