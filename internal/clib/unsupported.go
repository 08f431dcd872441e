//go:build !(((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib)

package clib

import "unsafe"

// Supported reports whether this program can load libraries.
const Supported = false

// Load always fails with ErrUnsupported.
func Load(path, _ string) (uintptr, error) { return 0, Unsupported(path) }

// The functions below are never called: no address is known without Load.

// Call returns 0.
func Call(uintptr, ...uintptr) uintptr { return 0 }

// CallPair returns zeros.
func CallPair(uintptr, ...uintptr) (first, second uintptr) { return 0, 0 }

// Call8 returns 0.
func Call8(_, _, _, _, _, _, _, _, _ uintptr) uintptr { return 0 }

// Callback returns 0.
func Callback(any) uintptr { return 0 }

// At returns nil.
func At(uintptr) unsafe.Pointer { return nil }

// Word returns 0.
func Word(uintptr, int) uintptr { return 0 }

// String returns "".
func String(uintptr) string { return "" }
