//go:build ((linux && !android) || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import "github.com/infer-prep/infer-prep/internal/clib"

// pathArg converts a path to ORTCHAR_T.
func pathArg(path string) ([]byte, error) { return clib.Terminated(path) }
