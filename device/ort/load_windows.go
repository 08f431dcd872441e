//go:build (amd64 || arm64) && !noort

package ort

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/windows"
)

// load loads a library and returns the address of one of its functions. Windows
// searches for the library's dependencies beside it, not in the current folder.
func load(path, symbol string) (uintptr, error) {
	h, err := windows.LoadLibraryEx(path, 0, windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR|windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if err != nil {
		return 0, err
	}
	return windows.GetProcAddress(h, symbol)
}

// pathArg converts a path to ORTCHAR_T, which is wchar_t on Windows.
func pathArg(path string) ([]byte, error) {
	u, err := syscall.UTF16FromString(path)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 2*len(u))
	for _, c := range u {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b, nil
}
