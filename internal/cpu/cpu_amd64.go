//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

func init() {
	has[AVX2] = cpu.X86.HasAVX2
	has[FMA] = has[AVX2] && cpu.X86.HasFMA
	has[BMI2] = cpu.X86.HasBMI1 && cpu.X86.HasBMI2
	has[AVX512] = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
	has[VNNI] = has[AVX512] && cpu.X86.HasAVX512VNNI
	has[VBMI] = has[VNNI] && cpu.X86.HasAVX512VBMI
}
