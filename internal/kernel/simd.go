//go:build (amd64 || arm64) && !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// The *_simd.go files hold the wrappers that amd64 and arm64 share. A wrapper
// checks that the assembly stays within its slices, and leaves the rest of the
// work to the plain Go loop of its caller. It calls functions whose names end
// in SIMD. Each architecture declares them with the same signature, together
// with the constants that say how much its assembly processes, reads and
// writes.

// hasSIMD reports whether the vector instructions of this architecture may be
// used: AVX2 on amd64, NEON on arm64.
func hasSIMD() bool { return cpu.Has(simd) }

// bytePointer returns p as a pointer to its first byte.
func bytePointer[T Word](p *T) *byte { return (*byte)(unsafe.Pointer(p)) }
