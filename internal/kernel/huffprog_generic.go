//go:build !amd64 || purego

package kernel

func huffRefine(*HuffReader, *HuffBand) bool { return false }
