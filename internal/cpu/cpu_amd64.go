//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

func init() {
	has[AVX2] = cpu.X86.HasAVX2
}
