//go:build (amd64 || arm64) && !noclib

package ort

import (
	"encoding/binary"
	"syscall"
)

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
