//go:build !amd64 || purego

package kernel

func copyRows(_, _ Rows, _, _ int) bool { return false }

func transpose(_, _ Rows, _, _, _ int) bool { return false }
