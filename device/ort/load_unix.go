//go:build ((linux && !android) || darwin) && (amd64 || arm64) && !noort

package ort

import "github.com/ebitengine/purego"

// load loads a library and finds a function of it.
func load(path, symbol string) (uintptr, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	return purego.Dlsym(h, symbol)
}

// pathArg is a path as ORTCHAR_T.
func pathArg(path string) ([]byte, error) { return cString(path) }
