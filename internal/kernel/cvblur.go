package kernel

import (
	"encoding/binary"
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// Gaussian blur of 8-bit images as OpenCV 5.0.0 computes it: weights with 8
// bits, exact sums, one rounding at the end. Source: GaussianBlurFixedPoint and
// getGaussianKernelFixedPoint_ED of modules/imgproc/src/smooth.dispatch.cpp.
//
// Sums of four neighbours are computed in the four quarters of a uint64. The
// weights of an axis are not negative and their sum is 256, so no quarter
// overflows.

// CVBlurSize returns the number of taps that OpenCV chooses for a standard
// deviation.
func CVBlurSize(sigma float64) int {
	return int(math.RoundToEven(float64(sigma*6)+1)) | 1
}

// The kernels of 1 to 9 taps for sigma 0, first half and centre, in 1/256.
var cvSmallKernels = [5][5]uint16{{256}, {64, 128}, {16, 64, 96}, {8, 28, 56, 72}, {4, 13, 30, 51, 60}}

// CVBlurTaps fills taps, whose length is odd, with the weights of a Gaussian in
// 1/256. Sigma 0 derives sigma from the length. The rounding error of a weight
// carries over to the next one, and the centre takes the rest.
func CVBlurTaps(taps []uint16, sigma float64) {
	n := len(taps)
	half := n / 2
	if sigma <= 0 && half < len(cvSmallKernels) {
		for i, v := range cvSmallKernels[half][:half+1] {
			taps[i], taps[n-1-i] = v, v
		}
		return
	}
	if sigma <= 0 {
		sigma = float64(float64(n)*0.15) + 0.35
	}
	scale := -0.125 / float64(sigma*sigma)
	weight := func(i int) float64 {
		x := 1 - n + 2*i // in half pixels
		return exactmath.Exp(float64(float64(x*x) * scale))
	}
	sum := 0.0
	for i := range half {
		sum += weight(i)
	}
	norm := 1 / (float64(2*sum) + 1)
	rest, carry := 256, 0.0
	for i := range half {
		exact := float64(float64(weight(i)*norm)*256) + carry
		v := math.RoundToEven(exact)
		carry = exact - v
		taps[i], taps[n-1-i] = uint16(v), uint16(v)
		rest -= 2 * int(v)
	}
	taps[half] = uint16(rest)
}

// Reflect101 returns the index that stands for i in a line of n elements: the
// line is mirrored at the centres of its first and last element.
func Reflect101(i, n int) int {
	if n == 1 {
		return 0
	}
	period := 2 * (n - 1)
	if i %= period; i < 0 {
		i += period
	}
	return min(i, period-i)
}

// CVBlurWidth rounds a number of elements up to what CVBlurRow and CVBlurMix
// process at a time.
func CVBlurWidth(n int) int { return (n + 3) &^ 3 }

// Widen converts bytes to 16 bits.
func Widen(dst []uint16, src []uint8) {
	dst = dst[:len(src)]
	for i := widen(dst, src); i < len(src); i++ {
		dst[i] = uint16(src[i])
	}
}

// CVBlurRow blurs along a row of n values: dst[i] is the sum of taps[j] *
// src[i+j*step]. The elements are uint16 in memory. dst has CVBlurWidth(n) of
// them, and src (len(taps)-1)*step more, all of 0 to 255. Those after the first
// n of dst are arbitrary.
func CVBlurRow(dst, src []byte, taps []uint16, n, step int) {
	half := len(taps) / 2
	centre := uint64(taps[half])
	for i := 2 * cvBlurRow(dst, src, taps, n, step); i < 2*n; i += 8 {
		sum := centre * load64(src, i+2*half*step)
		left, right := i, i+4*half*step
		for _, k := range taps[:half] {
			sum += uint64(k) * (load64(src, left) + load64(src, right))
			left += 2 * step
			right -= 2 * step
		}
		binary.NativeEndian.PutUint64(dst[i:], sum)
	}
}

func load64(b []byte, i int) uint64 { return binary.NativeEndian.Uint64(b[i : i+8]) }

// CVBlurMix computes n values of a row from the results of CVBlurRow. That for
// tap j starts at byte at[j] of rows. The sums are rounded half up. spare has
// CVBlurWidth(n) elements of two bytes.
func CVBlurMix(dst, rows, spare []byte, at []int64, taps []uint16, n int) {
	// The upper and the lower byte of a value are summed apart.
	const low = 0x00ff00ff00ff00ff
	half := len(taps) / 2
	done := cvBlurMix(dst, rows, at, taps, n)
	for i := 2 * done; i < 2*n; i += 8 {
		v := load64(rows, int(at[half])+i)
		k := uint64(taps[half])
		upper, lower := k*(v>>8&low), k*(v&low)
		for j, k := range taps[:half] {
			v, w := load64(rows, int(at[j])+i), load64(rows, int(at[len(taps)-1-j])+i)
			upper += uint64(k) * ((v >> 8 & low) + (w >> 8 & low))
			lower += uint64(k) * ((v & low) + (w & low))
		}
		const halves = 0x0080008000800080
		binary.NativeEndian.PutUint64(spare[i:], (upper+(lower>>8&low)+halves)>>8&low)
	}
	for i := done; i < n; i++ {
		dst[i] = uint8(binary.NativeEndian.Uint16(spare[2*i:]))
	}
}
