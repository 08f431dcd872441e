//go:build (amd64 || arm64) && !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// blurBlock is the number of values that the assembly processes at a time. The
// last block overlaps the one before it, so that nothing is left over.
const blurBlock = 32

// The functions below process all values in assembly, or none, and return how
// many they processed.

func widen(dst []uint16, src []uint8) int {
	n := len(src)
	if n < blurBlock || !hasSIMD() {
		return 0
	}
	_ = dst[n-1]
	widenSIMD(&dst[0], &src[0], n&^(blurBlock-1))
	at := n - blurBlock
	widenSIMD(&dst[at], &src[at], blurBlock)
	return n
}

func cvBlurRow(dst, src []byte, taps []uint16, n, step int) int {
	if n < blurBlock || !hasSIMD() {
		return 0
	}
	_, _ = dst[2*n-1], src[2*(n+(len(taps)-1)*step)-1]
	half, at := len(taps)/2, 2*(n-blurBlock)
	cvBlurRowSIMD(&dst[0], &src[0], &taps[0], half, n&^(blurBlock-1), 2*step)
	cvBlurRowSIMD(&dst[at], &src[at], &taps[0], half, blurBlock, 2*step)
	return n
}

func cvBlurMix(dst, rows []byte, at []int64, taps []uint16, n int) int {
	if n < blurBlock || !hasSIMD() {
		return 0
	}
	_ = dst[n-1]
	for _, i := range at[:len(taps)] {
		_ = rows[i:][:2*n]
	}
	half, last := len(taps)/2, n-blurBlock
	cvBlurMixSIMD(&dst[0], &rows[0], &at[0], &taps[0], half, n&^(blurBlock-1))
	cvBlurMixSIMD(&dst[last], &rows[2*last], &at[0], &taps[0], half, blurBlock)
	return n
}

func floats(dst []float32, src []uint8) int {
	n := len(src)
	if n < blurBlock || !hasSIMD() {
		return 0
	}
	_ = dst[n-1]
	floatsSIMD(&dst[0], &src[0], n&^(blurBlock-1))
	at := n - blurBlock
	floatsSIMD(&dst[at], &src[at], blurBlock)
	return n
}

func torchBlurRow(sums, rows []float32, at []int64, taps []float32, width, step int, fused bool) bool {
	const block = 64
	n := len(sums)
	if n < block || width == 0 || len(at) == 0 || !hasSIMD() || fused && !cpu.Has(fusedFeature) {
		return false
	}
	_ = taps[len(at)*width-1]
	for _, i := range at {
		_ = rows[i:][:(width-1)*step+n]
	}
	whole, last := n&^(block-1), n-block
	if fused {
		torchBlurFusedSIMD(&sums[0], &rows[0], &at[0], len(at), &taps[0], width, whole, 4*step)
		torchBlurFusedSIMD(&sums[last], &rows[last], &at[0], len(at), &taps[0], width, block, 4*step)
	} else {
		torchBlurSIMD(&sums[0], &rows[0], &at[0], len(at), &taps[0], width, whole, 4*step)
		torchBlurSIMD(&sums[last], &rows[last], &at[0], len(at), &taps[0], width, block, 4*step)
	}
	return true
}
