//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// Literals reads pixels until one is not stored as its four channels, and
// returns their number. It leaves those near the end of In to the caller.
func (r *VP8LReader) Literals(pixels []uint32, codes *VP8LCodes) int {
	// 8 bytes are read once before the first pixel and up to twice for each.
	// They add up to 7 bytes each time.
	last := len(r.In) - 24
	if len(pixels) == 0 || r.Pos < 0 || r.Pos > last || !cpu.Has(cpu.BMI2) {
		return 0
	}
	for _, c := range codes {
		_ = c[1<<VP8LFirst-1]
	}
	return vp8lLiteralsBMI2((*byte)(unsafe.Pointer(r)), last, &pixels[0], len(pixels), &codes[0][0], &codes[1][0], &codes[2][0], &codes[3][0])
}

func vp8lAddGreen(pixels []uint32) int {
	n := len(pixels) &^ 7
	if n == 0 || !hasSIMD() {
		return 0
	}
	vp8lAddGreenAVX2(&pixels[0], n)
	return n
}

func vp8lAddColors(pixels []uint32, greenRed, greenBlue, redBlue int8) int {
	n := len(pixels) &^ 3
	if n == 0 || !hasSIMD() {
		return 0
	}
	factors := uint32(uint16(greenBlue)<<3) | uint32(uint16(greenRed)<<3)<<16
	vp8lAddColorsAVX2(&pixels[0], n, factors, uint32(uint16(redBlue)<<3))
	return n
}

var vp8lPredictors = [14]func(row, up *uint32, n int){
	vp8lPredict0AVX2, vp8lPredict1AVX2, vp8lPredict2AVX2, vp8lPredict3AVX2, vp8lPredict4AVX2, vp8lPredict5AVX2, vp8lPredict6AVX2,
	vp8lPredict7AVX2, vp8lPredict8AVX2, vp8lPredict9AVX2, vp8lPredict10AVX2, vp8lPredict11AVX2, vp8lPredict12AVX2, vp8lPredict13AVX2,
}

func vp8lPredict(mode uint32, row, up []uint32, x int) bool {
	if !hasSIMD() {
		return false
	}
	if mode >= uint32(len(vp8lPredictors)) {
		mode = 0
	}
	_, _, _ = row[x-1], up[x-1], up[len(row)]
	vp8lPredictors[mode](&row[x], &up[x], len(row)-x)
	return true
}

func argbToRGB(dst []uint8, src []uint32) int {
	b := unsafe.Slice((*uint8)(unsafe.Pointer(&src[0])), 4*len(src))
	return argb.vectors.row(dst, b, 4, 3)
}

var argb = NewRearranger(4, 2, 1, 0)
