//go:build !amd64 || purego

package kernel

// Literals does nothing.
func (r *VP8LReader) Literals(_ []uint32, _ *VP8LCodes) int { return 0 }
