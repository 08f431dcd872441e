//go:build (!amd64 && !arm64) || purego

package kernel

// Literals does nothing.
func (r *VP8LReader) Literals(_ []uint32, _ *VP8LCodes) int { return 0 }

func vp8lAddGreen([]uint32) int { return 0 }

func vp8lAddColors(_ []uint32, _, _, _ int8) int { return 0 }

func vp8lPredict(_ uint32, _, _ []uint32, _ int) bool { return false }

func argbToRGB([]uint8, []uint32) int { return 0 }
