//go:build !purego

package kernel

// There is no NEON assembly for these passes: everything is left to the loops in Go.

type packed struct{}

func (t *Taps) pack() {}

func (t *Taps) horizontal(_, _ []uint8, _, _, _ int) bool { return false }

func (t *Taps) vertical(_, _ []uint8, _, _ int) bool { return false }
