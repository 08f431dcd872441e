//go:build (!arm64 && !(goexperiment.simd && wasm)) || purego

package kernel

func pngLeft(_, _ []byte, _ int) int { return 0 }

func pngUp(_, _, _ []byte) int { return 0 }

func pngAverage(_, _, _ []byte, _ int) int { return 0 }

func pngPaeth(_, _, _ []byte, _ int) int { return 0 }
