//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"fmt"
	"runtime"

	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/clib"
)

// Environment names the environment variable that holds the path of the library
// or of its folder.
const Environment = "INFER_PREP_ORT"

// where describes where ONNX Runtime may be.
func where() *clib.Library {
	l := &clib.Library{
		Environment: Environment, Packages: []string{"onnxruntime/capi"}, Conda: true, // conda's package onnxruntime-cpp
		Files: []string{"libonnxruntime.so", "libonnxruntime.so.*"}, System: "libonnxruntime.so.1",
	}
	switch runtime.GOOS {
	case "windows":
		l.Files, l.System = []string{"onnxruntime.dll"}, ""
	case "darwin":
		l.Files, l.System = []string{"libonnxruntime.dylib", "libonnxruntime.*.dylib"}, "libonnxruntime.dylib"
	}
	return l
}

// missing returns the error of a library that is nowhere. err is that of the
// system's loader.
func missing(err error) error {
	const help = "ONNX Runtime's library was not found. Install it in the Python environment in use (pip install onnxruntime), put it beside the program, or name it or its folder in lib=PATH or the environment variable " + Environment
	if err == nil {
		return fmt.Errorf("%w: %s", device.ErrUnavailable, help)
	}
	return fmt.Errorf("%w: %s (%w)", device.ErrUnavailable, help, err)
}

// findLibrary searches for the library in the order that the package comment
// lists.
func findLibrary(option string) (string, error) {
	l, err := where().Find("lib", option)
	if err != nil {
		return "", fmt.Errorf("%w: %w", device.ErrUnavailable, err)
	}
	if l == "" {
		return "", missing(nil)
	}
	return l, nil
}
