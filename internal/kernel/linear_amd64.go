//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// hasLinear reports whether Linear may be used.
func hasLinear() bool { return cpu.Has(cpu.FMA) }

// linearPlanes is Planes for at least one row of eight pixels or more.
func linearPlanes(l *Linear, dst []float32, plane int, src []uint8, stride, width, height int) {
	f := linearPlanes1FMA
	if l.scaled {
		f = linearPlanes2FMA
	}
	f(bytePointer(&dst[0]), 4*plane, &src[0], stride, width, height, &l.planes[0].scaleHigh[0])
}

// linearRow computes len(src) elements, a multiple of 24 and not 0.
func linearRow(l *Linear, dst []float32, src []uint8) {
	_ = dst[len(src)-1]
	if l.scaled {
		linearRow2FMA(bytePointer(&dst[0]), &src[0], len(src), &l.row[0].scaleHigh[0])
	} else {
		linearRow1FMA(bytePointer(&dst[0]), &src[0], len(src), &l.row[0].scaleHigh[0])
	}
}
