//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// cvLinearU8 is CVResizeU8 of two taps, if there is assembly for it, and says
// so. The vertical pass drops the last 4 of the sums' 11 fractional bits; here
// they go before, so that a sum fits 16 bits.
func cvLinearU8(dst, src []uint8, inW, outW, ch int, x, y *CVTaps, rows []int32, t *CVScratch) bool {
	if x.K != 2 || y.K != 2 || len(x.pair) != outW || outW == 0 || !cpu.Has(cpu.AVX2) || (ch != 1 && ch != 3 && ch != 4) || int(x.first[outW-1]) >= inW {
		return false
	}
	for _, w := range y.WI {
		if w < 0 || w > 1<<cvBits {
			return false
		}
	}
	line := outW * ch
	rows = rows[:2*line]
	// Half of the memory is free after each row: cvRow3AVX2 writes beyond its end.
	sums := unsafe.Slice((*int16)(unsafe.Pointer(&rows[0])), 4*line)
	at := t.begin(2)
	for o := range len(y.Index) / 2 {
		for j, r := range y.Index[2*o:][:2] {
			if t.place(j, r, 2, 2*line) {
				cvLinearRow(sums[at[j]:][:2*line], src[int(r)*inW*ch:], inW, ch, x)
			}
		}
		cvMixLinear(dst[o*line:][:line], sums[at[0]:][:line], sums[at[1]:][:line], int16(y.WI[2*o]), int16(y.WI[2*o+1]))
	}
	return true
}

// cvLinearRow is CVRowU8 with 7 fractional bits. src begins with the row and
// goes on to the end of the image; sums has room for twice the row.
func cvLinearRow(sums []int16, src []uint8, inW, ch int, x *CVTaps) {
	row := src[:inW*ch]
	n, wide, reads := len(x.first), 4, 8
	if ch == 1 {
		wide, reads = 16, 4
	}
	for n > 0 && int(x.first[n-1])*ch+reads > len(src) {
		n--
	}
	n = n / wide * wide
	if n > 0 {
		_ = sums[:2*len(x.first)*ch]
		switch ch {
		case 1:
			cvRow1AVX2(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		case 3:
			cvRow3AVX2(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		case 4:
			cvRow4AVX2(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
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

// cvMixLinear is CVMixLinearU8 of sums of 7 fractional bits.
func cvMixLinear(dst []uint8, a, b []int16, t, u int16) {
	n := len(dst) &^ 31
	a, b = a[:len(dst)], b[:len(dst)]
	if n > 0 {
		cvMixLinearAVX2(&dst[0], &a[0], &b[0], n, t, u)
	}
	for ; n < len(dst); n++ {
		v := (int32(t)*int32(a[n])>>16 + int32(u)*int32(b[n])>>16 + 2) >> 2
		dst[n] = uint8(min(max(v, 0), 255))
	}
}

// cvCubicRow is CVRowU8 of the outputs from from up to to, whose four taps are
// neighbours. src begins with the row and goes on to the end of the image.
func cvCubicRow(sums []int32, src []uint8, inW, ch int, x *CVTaps) (from, to int) {
	if x.K != 4 || (ch != 1 && ch != 3 && ch != 4) || !cpu.Has(cpu.AVX2) {
		return 0, 0
	}
	from, to = x.inner[0], x.inner[1]
	wide, reads := 2, 16
	switch ch {
	case 1:
		wide, reads = 8, 4
	case 3:
		to = min(to, len(x.first)-1) // room for what is written beyond
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
		cvCubic1AVX2(d, &src[0], n, first, pairs)
	case 3:
		cvCubic3AVX2(d, &src[0], n, first, pairs)
	case 4:
		cvCubic4AVX2(d, &src[0], n, first, pairs)
	}
	return from, to
}

// cvAreaRowU8 is CVAreaRow if there is assembly for it, and says so. Sums of
// numbers that are not negative stay the same when 0 times a number is added.
func cvAreaRowU8(dst []float32, src []uint8, ch int, x *AreaTab) bool {
	outs := len(x.first)
	if x.k == 0 || (ch != 1 && ch != 3 && ch != 4) || !cpu.Has(cpu.AVX2) {
		return false
	}
	dst = dst[:outs*ch]
	if len(x.row) < len(src)+4 {
		x.row = make([]float32, len(src)+4)
	}
	row := x.row
	n := len(src) &^ 7
	if n > 0 {
		bytesToFloatAVX2(&row[0], &src[0], n)
	}
	for ; n < len(src); n++ {
		row[n] = float32(src[n])
	}
	_ = src[(int(x.first[outs-1])+x.k)*ch-1] // first ascends
	n = 0
	switch ch {
	case 1:
		if n = outs &^ 7; n > 0 {
			cvArea1AVX2(&dst[0], &row[0], n, &x.first[0], &x.across[0], x.k, outs)
		}
	case 3:
		if n = outs - 1; n > 0 {
			cvArea3AVX2(&dst[0], &row[0], n, &x.first[0], &x.fixed[0], x.k)
		}
	case 4:
		n = outs
		cvArea4AVX2(&dst[0], &row[0], n, &x.first[0], &x.fixed[0], x.k)
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

// The functions below do the first elements or pixels and give their number.

func addsScaled(sum, buf []float32, w float32, first bool) int {
	n := len(sum) &^ 7
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_ = buf[n-1]
	addScaledAVX2(&sum[0], &buf[0], n, w, first)
	return n
}

func roundsU8(dst []uint8, src []float32) int {
	n := len(dst) &^ 31
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_ = src[n-1]
	roundU8AVX2(&dst[0], &src[0], n)
	return n
}

func cvHalf(dst, a, b []uint8, ch int) int {
	if !cpu.Has(cpu.AVX2) {
		return 0
	}
	n := len(dst) / ch
	switch ch {
	case 1:
		n &^= 31
	case 3:
		n = max(n-2, 0) &^ 7 // the two pixels have room for what is read and written beyond
	case 4:
		n &^= 7
	}
	if n == 0 {
		return 0
	}
	_, _ = a[2*n*ch-1], b[2*n*ch-1]
	switch ch {
	case 1:
		cvHalf1AVX2(&dst[0], &a[0], &b[0], n)
	case 3:
		_, _ = a[2*n*ch+3], b[2*n*ch+3]
		cvHalf3AVX2(&dst[0], &a[0], &b[0], n)
	case 4:
		cvHalf4AVX2(&dst[0], &a[0], &b[0], n)
	default:
		return 0
	}
	return n
}

// canPick reports whether pickRow can take the indices.
func canPick(inW, size int, xs []int32) bool {
	if (size != 1 && size != 3 && size != 4) || inW > 1<<28 || !cpu.Has(cpu.AVX2) {
		return false
	}
	for _, x := range xs {
		if x < 0 || int(x) >= inW {
			return false
		}
	}
	return true
}

// pickRow copies the pixels that xs names; src begins with the row and goes on
// to the end of the image.
func pickRow(dst, src []uint8, inW, size int, xs []int32) int {
	if (inW-1)*size+4 > len(src) {
		return 0
	}
	n := len(xs)
	if size == 3 {
		n = max(n-2, 0) // room for what is written beyond
	}
	n &^= 7
	if n == 0 {
		return 0
	}
	_ = dst[len(xs)*size-1]
	switch size {
	case 1:
		pick1AVX2(&dst[0], &src[0], n, &xs[0])
	case 3:
		pick3AVX2(&dst[0], &src[0], n, &xs[0])
	case 4:
		pick4AVX2(&dst[0], &src[0], n, &xs[0])
	}
	return n
}

// sumRows adds the first len(dst) bytes of rows that are stride apart.
func sumRows(dst []uint16, src []uint8, rows, stride int) int {
	n := len(dst) &^ 15
	if n == 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_ = src[(rows-1)*stride+n-1]
	sumRowsAVX2(&dst[0], &src[0], n, rows, stride)
	return n
}

// sumBlocks adds k pixels n times, and scales the sums.
func sumBlocks(dst []float32, src []uint16, n, k, ch int, scale float32) int {
	if ch > 4 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_, _ = dst[(n-1)*ch+3], src[(n*k-1)*ch+3]
	sumBlocksAVX2(&dst[0], &src[0], n, k, ch, scale)
	return n
}

// cvMixCubic mixes all of dst, which is whole vectors of 8.
func cvMixCubic(dst []uint8, a, b, c, d []int32, w [4]float32) int {
	n := len(dst)
	if n == 0 || n%8 != 0 || !cpu.Has(cpu.AVX2) {
		return 0
	}
	_, _, _, _ = a[n-1], b[n-1], c[n-1], d[n-1]
	cvMixCubicAVX2(&dst[0], &a[0], &b[0], &c[0], &d[0], n, &w)
	return n
}
