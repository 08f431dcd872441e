//go:build (amd64 || arm64) && !purego

package kernel

import (
	"slices"
	"unsafe"
)

// cvLinearU8 runs CVResizeU8 for two taps in assembly and reports whether it
// did. The vertical pass drops the last 4 of the sums' 11 fractional bits; here
// the horizontal pass drops them, so that a sum fits 16 bits.
func cvLinearU8(dst, src []uint8, inW, outW, ch int, x, y *CVTaps, rows []int32, t *CVScratch) bool {
	if x.K != 2 || y.K != 2 || len(x.pair) != outW || outW == 0 || !hasSIMD() || (ch != 1 && ch != 3 && ch != 4) || int(x.first[outW-1]) >= inW {
		return false
	}
	for _, w := range y.WI {
		if w < 0 || w > 1<<cvBits {
			return false
		}
	}
	line := outW * ch
	rows = rows[:2*line]
	// Each row is followed by as much free memory: cvRow3SIMD writes beyond its
	// end.
	sums := unsafe.Slice((*int16)(unsafe.Pointer(&rows[0])), 4*line)
	at := t.begin(2)
	for o := range len(y.Index) / 2 {
		for j, r := range y.Index[2*o:][:2] {
			if t.place(j, r, 2, 2*line) {
				cvLinearRow(sums[at[j]:][:2*line], src[int(r)*inW*ch:], inW, ch, x)
			}
		}
		cvMixLinear(dst[o*line:][:line], sums[at[0]:][:line], sums[at[1]:][:line], y.WI[2*o], y.WI[2*o+1])
	}
	return true
}

// cvLinearRow is CVRowU8 with 7 fractional bits. src starts at the row and
// extends to the end of the image; sums has room for twice the row.
func cvLinearRow(sums []int16, src []uint8, inW, ch int, x *CVTaps) {
	row := src[:inW*ch]
	n, wide, reads := len(x.first), 4, 8
	if ch == 1 {
		wide, reads = cvRow1Pixels, cvRow1Reads
	}
	for n > 0 && int(x.first[n-1])*ch+reads > len(src) {
		n--
	}
	n = n / wide * wide
	if n > 0 {
		_ = sums[:2*len(x.first)*ch]
		switch ch {
		case 1:
			cvRow1SIMD(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		case 3:
			cvRow3SIMD(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		case 4:
			cvRow4SIMD(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		}
	}
	for ; n < len(x.first); n++ {
		a, b := row[int(x.Index[2*n])*ch:][:ch], row[int(x.Index[2*n+1])*ch:][:ch]
		t, u := x.WI[2*n], x.WI[2*n+1]
		for c := range a {
			sums[n*ch+c] = int16((int32(a[c])*t + int32(b[c])*u) >> 4)
		}
	}
}

// cvMixLinear is CVMixLinearU8 for sums with 7 fractional bits.
func cvMixLinear(dst []uint8, a, b []int16, t, u int32) {
	n := len(dst) / cvMixLinearBytes * cvMixLinearBytes
	a, b = a[:len(dst)], b[:len(dst)]
	if n > 0 {
		cvMixLinearSIMD(&dst[0], &a[0], &b[0], n, t, u)
	}
	for ; n < len(dst); n++ {
		v := (t*int32(a[n])>>16 + u*int32(b[n])>>16 + 2) >> 2
		dst[n] = uint8(min(max(v, 0), 255))
	}
}

// cvCubicRow is CVRowU8 for the outputs in [from, to), whose four taps are
// adjacent. src starts at the row and extends to the end of the image.
func cvCubicRow(sums []int32, src []uint8, inW, ch int, x *CVTaps) (from, to int) {
	if x.K != 4 || (ch != 1 && ch != 3 && ch != 4) || !hasSIMD() {
		return 0, 0
	}
	from, to = x.inner[0], x.inner[1]
	wide, reads := 2, 16
	switch ch {
	case 1:
		wide, reads = cvCubic1Pixels, 4
	case 3:
		to = min(to, len(x.first)-1) // the assembly writes beyond its last pixel
	}
	for to > from && int(x.first[to-1])*ch+reads > len(src) {
		to--
	}
	n := (to - from) / wide * wide
	if n <= 0 {
		return 0, 0
	}
	to = from + n
	if int(x.first[to-1])+4 > inW {
		return 0, 0
	}
	_ = sums[len(x.first)*ch-1]
	d, first, pairs := &sums[from*ch], &x.first[from], &x.pair[2*from]
	switch ch {
	case 1:
		cvCubic1SIMD(d, &src[0], n, first, pairs)
	case 3:
		cvCubic3SIMD(d, &src[0], n, first, pairs)
	case 4:
		cvCubic4SIMD(d, &src[0], n, first, pairs)
	}
	return from, to
}

// cvAreaRowU8 runs CVAreaRow in assembly and reports whether it did. Adding 0
// times a number does not change a sum of non-negative numbers.
func cvAreaRowU8(dst []float32, src []uint8, ch int, x *AreaTab) bool {
	outs := len(x.first)
	if x.k == 0 || (ch != 1 && ch != 3 && ch != 4) || !hasSIMD() {
		return false
	}
	dst = dst[:outs*ch]
	if len(x.row) < len(src)+4 {
		x.row = make([]float32, len(src)+4)
	}
	row := x.row
	n := len(src) / bytesToFloatBytes * bytesToFloatBytes
	if n > 0 {
		bytesToFloatSIMD(&row[0], &src[0], n)
	}
	for ; n < len(src); n++ {
		row[n] = float32(src[n])
	}
	_ = src[(int(x.first[outs-1])+x.k)*ch-1] // first is ascending
	n = 0
	switch ch {
	case 1:
		if n = outs / cvArea1Pixels * cvArea1Pixels; n > 0 {
			cvArea1SIMD(&dst[0], &row[0], n, &x.first[0], &x.across[0], x.k, outs)
		}
	case 3:
		if n = outs - 1; n > 0 {
			cvArea3SIMD(&dst[0], &row[0], n, &x.first[0], &x.fixed[0], x.k)
		}
	case 4:
		n = outs
		cvArea4SIMD(&dst[0], &row[0], n, &x.first[0], &x.fixed[0], x.k)
	}
	for ; n < outs; n++ {
		for c := range ch {
			at, sum := int(x.first[n])*ch+c, float32(0)
			for _, w := range x.fixed[n*x.k:][:x.k] {
				sum += float32(row[at] * w)
				at += ch
			}
			dst[n*ch+c] = sum
		}
	}
	return true
}

// The functions below process the first elements or pixels in assembly and
// return how many they processed.

func addsScaled(sum, buf []float32, w float32, first bool) int {
	n := len(sum) &^ 7
	if n == 0 || !hasSIMD() {
		return 0
	}
	_ = buf[n-1]
	addScaledSIMD(&sum[0], &buf[0], n, w, first)
	return n
}

func roundsU8(dst []uint8, src []float32) int {
	n := len(dst) / roundU8Bytes * roundU8Bytes
	if n == 0 || !hasSIMD() {
		return 0
	}
	_ = src[n-1]
	roundU8SIMD(&dst[0], &src[0], n)
	return n
}

func cvHalf(dst, a, b []uint8, ch int) int {
	if !hasSIMD() {
		return 0
	}
	n := len(dst) / ch
	switch ch {
	case 1:
		n = n / cvHalf1Pixels * cvHalf1Pixels
	case 3:
		n = max(n-cvHalf3Spare, 0) &^ 7
	case 4:
		n &^= 7
	default:
		return 0
	}
	if n == 0 {
		return 0
	}
	_, _ = a[2*n*ch-1], b[2*n*ch-1]
	switch ch {
	case 1:
		cvHalf1SIMD(&dst[0], &a[0], &b[0], n)
	case 3:
		_, _ = a[2*(n+cvHalf3Spare)*ch-1], b[2*(n+cvHalf3Spare)*ch-1]
		cvHalf3SIMD(&dst[0], &a[0], &b[0], n)
	case 4:
		cvHalf4SIMD(&dst[0], &a[0], &b[0], n)
	}
	return n
}

// canPick reports whether pickRow accepts the indices. A dword of the assembly
// holds up to 4 times an index.
func canPick(inW, size int, xs []int32) bool {
	if (size != 1 && size != 3 && size != 4) || inW > 1<<28 || !hasSIMD() {
		return false
	}
	for _, x := range xs {
		if uint32(x) >= uint32(inW) { // or negative
			return false
		}
	}
	return true
}

// pickRow copies the first pixels at xs and returns how many. src starts at the
// row and extends to the end of the image.
func pickRow(dst, src []uint8, inW, size int, xs []int32) int {
	n := len(xs)
	if size == 3 { // which accesses one byte too many
		if n--; inW*size == len(src) {
			if i := slices.Index(xs, int32(inW-1)); i >= 0 {
				n = min(n, i)
			}
		}
	}
	n = n / pickPixels * pickPixels
	if n <= 0 {
		return 0
	}
	_, _ = dst[len(xs)*size-1], src[inW*size-1]
	switch size {
	case 1:
		pick1SIMD(&dst[0], &src[0], n, &xs[0])
	case 3:
		pick3SIMD(&dst[0], &src[0], n, &xs[0])
	case 4:
		pick4SIMD(&dst[0], &src[0], n, &xs[0])
	}
	return n
}

// sumRows adds the first len(dst) bytes of rows that are stride bytes apart.
func sumRows(dst []uint16, src []uint8, rows, stride int) int {
	n := len(dst) &^ 15
	if n == 0 || !hasSIMD() {
		return 0
	}
	_ = src[(rows-1)*stride+n-1]
	sumRowsSIMD(&dst[0], &src[0], n, rows, stride)
	return n
}

// sumBlocks sums k pixels n times and scales the sums.
func sumBlocks(dst []float32, src []uint16, n, k, ch int, scale float32) int {
	if ch > 4 || !hasSIMD() {
		return 0
	}
	_, _ = dst[(n-1)*ch+3], src[(n*k-1)*ch+3]
	sumBlocksSIMD(&dst[0], &src[0], n, k, ch, scale)
	return n
}

// cvMixCubic mixes all of dst, whose length must be a multiple of 8.
func cvMixCubic(dst []uint8, a, b, c, d []int32, w [4]float32) int {
	n := len(dst)
	if n == 0 || n%8 != 0 || !hasSIMD() {
		return 0
	}
	_, _, _, _ = a[n-1], b[n-1], c[n-1], d[n-1]
	cvMixCubicSIMD(&dst[0], &a[0], &b[0], &c[0], &d[0], n, &w)
	return n
}
