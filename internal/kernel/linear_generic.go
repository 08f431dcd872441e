//go:build !amd64 || purego

package kernel

// hasLinear reports whether Linear may be used. Without vector instructions a
// look-up is quicker.
func hasLinear() bool { return false }

func linearPlanes(_ *Linear, _ []float32, _ int, _ []uint8, _, _, _ int) {}

func linearRow(_ *Linear, _ []float32, _ []uint8) {}
