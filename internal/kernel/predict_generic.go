//go:build (!amd64 && !arm64) || purego || small

package kernel

func addLeft16([]byte) int { return 0 }
