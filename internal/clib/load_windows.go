//go:build (amd64 || arm64) && !noclib

package clib

import "golang.org/x/sys/windows"

// load makes Windows search for the library's dependencies beside it, not in
// the current folder.
func load(path, symbol string) (uintptr, error) {
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR|windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if err != nil {
		return 0, err
	}
	p, err := windows.GetProcAddress(h, symbol)
	if err != nil {
		_ = windows.FreeLibrary(h) // the first error matters more
	}
	return p, err
}
