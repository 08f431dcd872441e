//go:build (!amd64 && !arm64) || purego

package kernel

func adlerRow([]byte, *[2]uint32) int { return 0 }
