//go:build (amd64 || arm64) && !purego

package kernel

// The functions below run a whole operation in assembly and report whether they
// did.

// canTransformRow reports whether the assembly of a row function may run, whose
// output blocks have size x size samples. It panics if a slice is too short.
func canTransformRow(size int, dst []byte, stride, n int, last []uint8) bool {
	if !hasSIMD() || uint(stride) > uint(len(dst)) {
		return false
	}
	_, _ = dst[(size-1)*stride+size*n-1], last[n-1]
	return true
}

// idctRow is IDCTRow.
func idctRow(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !canTransformRow(8, dst, stride, len(blocks), last) {
		return false
	}
	idctRowSIMD(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// idctRow4 is IDCTRow4.
func idctRow4(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !canTransformRow(4, dst, stride, len(blocks), last) {
		return false
	}
	idctRow4SIMD(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// idctRow2 is IDCTRow2.
func idctRow2(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	if !canTransformRow(2, dst, stride, len(blocks), last) {
		return false
	}
	idctRow2SIMD(&dst[0], stride, &blocks[0], quant, &last[0], len(blocks))
	return true
}

// yccToRGB is YCCToRGB.
func yccToRGB(dst, y, cb, cr []byte) bool {
	n := len(y)
	if n < 16 || !hasSIMD() {
		return false
	}
	_, _, _ = dst[3*n-1], cb[n-1], cr[n-1]
	yccToRGBSIMD(&dst[0], &y[0], &cb[0], &cr[0], n)
	return true
}

// upsampleH2V1 writes all pairs of dst except the first and the last.
func upsampleH2V1(dst, src []byte) bool {
	n := len(src) - 2
	if n < 16 || !hasSIMD() {
		return false
	}
	_ = dst[2*n+3]
	upsampleH2V1SIMD(&dst[2], &src[1], n)
	return true
}

// upsampleH2V2 is upsampleH2V1 for two rows.
func upsampleH2V2(dst, near, far []byte) bool {
	n := len(near) - 2
	if n < 16 || !hasSIMD() {
		return false
	}
	_, _ = dst[2*n+3], far[n+1]
	upsampleH2V2SIMD(&dst[2], &near[1], &far[1], n)
	return true
}

// upsampleH1V2 is UpsampleH1V2.
func upsampleH1V2(dst, near, far []byte, bias int) bool {
	n := len(dst)
	if n < 16 || !hasSIMD() {
		return false
	}
	_, _ = near[n-1], far[n-1]
	upsampleH1V2SIMD(&dst[0], &near[0], &far[0], n, bias)
	return true
}
