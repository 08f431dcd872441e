//go:build !amd64 || purego

package kernel

func huffRow(*HuffWriter) bool { return false }
