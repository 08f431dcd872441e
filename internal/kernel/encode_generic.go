//go:build (!amd64 && !arm64) || purego

package kernel

func fdctRow([][64]int16, []uint64, []byte, int, *Divisors) bool { return false }

func rgbToYCC(_, _, _, _ []byte) bool { return false }

func downsampleH2V1(_, _ []byte) bool { return false }

func downsampleH2V2(_, _, _ []byte) bool { return false }
