//go:build ((linux && !android) || (darwin && !ios)) && (amd64 || arm64) && !noclib

package clib

import "github.com/ebitengine/purego"

func load(path, symbol string) (uintptr, error) {
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	p, err := purego.Dlsym(h, symbol)
	if err != nil {
		_ = purego.Dlclose(h) // the first error matters more
	}
	return p, err
}
