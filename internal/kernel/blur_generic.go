//go:build (!amd64 && !arm64) || purego

package kernel

func widen(_ []uint16, _ []uint8) int { return 0 }

func cvBlurRow(_, _ []byte, _ []uint16, _, _ int) int { return 0 }

func cvBlurMix(_, _ []byte, _ []int64, _ []uint16, _ int) int { return 0 }

func floats(_ []float32, _ []uint8) int { return 0 }

func torchBlurRow(_, _ []float32, _ []int64, _ []float32, _, _ int, _ bool) bool { return false }
