//go:build (!amd64 && !arm64) || purego

package kernel

func lookupCHW[T Word](_ []T, _ int, _ []uint8, _ int, _ []T) int { return 0 }

func lookupHWC[T Word](_ []T, _ []uint8, _ int, _ []T) int { return 0 }

func deinterleave[T Word](_ []T, _ int, _ []T, _ int) int { return 0 }

func interleave[T Word](_, _ []T, _, _ int) int { return 0 }

func flipRow(_, _ []uint8, _ int) int { return 0 }

func normalizeF32(_, _, _, _ []float32) int { return 0 }

func quantizeF32[T uint8 | int8 | uint16 | int16](_ []T, _, _ []float32, _ []int32) int { return 0 }
