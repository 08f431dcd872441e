//go:build ((linux && !android) || (darwin && !ios)) && (amd64 || arm64) && !noort

package ort

import "github.com/ebitengine/purego"

// load loads a library and returns the address of one of its functions.
func load(path, symbol string) (uintptr, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	return purego.Dlsym(h, symbol)
}

// pathArg converts a path to ORTCHAR_T.
func pathArg(path string) ([]byte, error) { return cString(path) }
