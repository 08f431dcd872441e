//go:build !linux

package tensor

func largePages([]byte) {}
