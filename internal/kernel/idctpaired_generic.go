//go:build !amd64 || purego

package kernel

// Pairs reports whether IDCTRowPaired is faster than IDCTRow.
func Pairs() bool { return false }

func idctRowPaired([]byte, int, [][64]int16, *[64]int16, []uint8) int { return 0 }
