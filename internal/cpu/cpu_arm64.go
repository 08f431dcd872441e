//go:build !purego

package cpu

func init() {
	has[NEON] = true // part of every ARMv8-A
}
