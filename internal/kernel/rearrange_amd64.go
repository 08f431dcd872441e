//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// vectorWidth returns the best width for n bytes.
func vectorWidth(n int) int {
	if cpu.Has(cpu.VBMI) && n >= 4096 {
		return 64
	}
	return 16
}

// run permutes vectors times times, an even number and not 0. Each time it
// moves src by from and dst by to bytes.
func (r *rearrangeVectors) run(dst, src *byte, times, from, to int) {
	if r.width == 64 {
		rearrangeVBMI(dst, src, times, &r.order, &r.fill, r.keep, from, to)
	} else {
		rearrangeSIMD(dst, src, times, (*[16]uint8)(r.order[:]), (*[16]uint8)(r.fill[:]), from, to)
	}
}
