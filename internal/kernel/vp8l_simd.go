//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

func vp8lAddGreen(pixels []uint32) int {
	n := len(pixels) &^ 7
	if n == 0 || !hasSIMD() {
		return 0
	}
	vp8lAddGreenSIMD(&pixels[0], n)
	return n
}

func vp8lAddColors(pixels []uint32, greenRed, greenBlue, redBlue int8) int {
	n := len(pixels) &^ 3
	if n == 0 || !hasSIMD() {
		return 0
	}
	factors := uint32(uint16(greenBlue)<<3) | uint32(uint16(greenRed)<<3)<<16
	vp8lAddColorsSIMD(&pixels[0], n, factors, uint32(uint16(redBlue)<<3))
	return n
}

var vp8lPredictors = [14]func(row, up *uint32, n int){
	vp8lPredict0SIMD, vp8lPredict1SIMD, vp8lPredict2SIMD, vp8lPredict3SIMD, vp8lPredict4SIMD, vp8lPredict5SIMD, vp8lPredict6SIMD,
	vp8lPredict7SIMD, vp8lPredict8SIMD, vp8lPredict9SIMD, vp8lPredict10SIMD, vp8lPredict11SIMD, vp8lPredict12SIMD, vp8lPredict13SIMD,
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
