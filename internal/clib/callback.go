//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package clib

import "github.com/ebitengine/purego"

// Callback returns the address of a C function that calls fn, which takes and
// returns values of type uintptr. Its memory is never freed and a program can
// have 2,000: create each one once, and pass a Handle to tell its callers
// apart.
func Callback(fn any) uintptr { return purego.NewCallback(fn) }
