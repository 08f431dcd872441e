//go:build (!amd64 && !arm64 && !(goexperiment.simd && wasm)) || purego

package kernel

type packed struct{}

func (t *Taps) pack() {}

func (t *Taps) packRows() {}

func (t *Taps) horizontal(_, _ []uint8, _, _, _ int) bool { return false }

func (t *Taps) vertical(_, _ []uint8, _, _ int) bool { return false }
