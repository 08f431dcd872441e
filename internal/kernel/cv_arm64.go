//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// cvRow1NEON is a row of n pixels, a multiple of 8 and not 0: sums with 7
// fractional bits. It reads 2 bytes at each of first.
//
//go:noescape
func cvRow1NEON(dst *int16, src *byte, n int, first, pair *int32)

// cvRow3NEON is a row of n pixels of three channels, a multiple of 4 and not 0. It
// reads 8 bytes at each of first, which counts pixels, and writes one sum too many.
//
//go:noescape
func cvRow3NEON(dst *int16, src *byte, n int, first, pair *int32)

// cvRow4NEON is cvRow3NEON of four channels, without a sum too many.
//
//go:noescape
func cvRow4NEON(dst *int16, src *byte, n int, first, pair *int32)

// cvMixLinearNEON mixes n sums, a multiple of 16 and not 0, with the weights in
// the lowest two words of weights.
//
//go:noescape
func cvMixLinearNEON(dst *byte, a, b *int16, n, weights int)

// bytesToFloatNEON widens n bytes, a multiple of 16 and not 0.
//
//go:noescape
func bytesToFloatNEON(dst *float32, src *byte, n int)

// cvArea1NEON gives n sums, a multiple of 4 and not 0, of k products; the weights
// of one place in the sums are line apart.
//
//go:noescape
func cvArea1NEON(dst, row *float32, n int, first *int32, w *float32, k, line int)

// cvArea3NEON gives the three sums of n pixels, not 0, of k products. It reads and
// writes one number too many.
//
//go:noescape
func cvArea3NEON(dst, row *float32, n int, first *int32, w *float32, k int)

// cvArea4NEON is cvArea3NEON for four channels, with nothing too many.
//
//go:noescape
func cvArea4NEON(dst, row *float32, n int, first *int32, w *float32, k int)

// scaleNEON and addScaledNEON do n elements, a multiple of 8 and not 0.
//
//go:noescape
func scaleNEON(sum, buf *float32, n int, w float32)

//go:noescape
func addScaledNEON(sum, buf *float32, n int, w float32)

// roundU8NEON rounds n numbers, a multiple of 16 and not 0.
//
//go:noescape
func roundU8NEON(dst *byte, src *float32, n int)

// cvHalf1NEON and its like give the means of n blocks of 2 x 2 pixels, a multiple
// of 8 and not 0.
//
//go:noescape
func cvHalf1NEON(dst, a, b *byte, n int)

//go:noescape
func cvHalf3NEON(dst, a, b *byte, n int)

//go:noescape
func cvHalf4NEON(dst, a, b *byte, n int)

// pick1 and its like copy n pixels, a multiple of 4 and not 0. pick3 reads and
// writes a byte too many.
//
//go:noescape
func pick1(dst, src *byte, n int, xs *int32)

//go:noescape
func pick3(dst, src *byte, n int, xs *int32)

//go:noescape
func pick4(dst, src *byte, n int, xs *int32)

// sumRowsNEON adds n columns, a multiple of 16 and not 0, of rows that are stride
// apart.
//
//go:noescape
func sumRowsNEON(dst *uint16, src *byte, n, rows, stride int)

// sumBlocksNEON adds k pixels n times and scales the sums. It reads and writes as
// if there were four channels.
//
//go:noescape
func sumBlocksNEON(dst *float32, src *uint16, n, k, ch int, scale float32)

// cvCubic1NEON gives n sums, a multiple of 4 and not 0, of four neighbours.
//
//go:noescape
func cvCubic1NEON(dst *int32, src *byte, n int, first, pairs *int32)

// cvCubic3NEON gives the three sums of n pixels, a multiple of 2 and not 0, of four
// neighbours. It reads 16 bytes at each of first and writes one sum too many.
//
//go:noescape
func cvCubic3NEON(dst *int32, src *byte, n int, first, pairs *int32)

// cvCubic4NEON is cvCubic3NEON for four channels, without a sum too many.
//
//go:noescape
func cvCubic4NEON(dst *int32, src *byte, n int, first, pairs *int32)

// cvMixCubicNEON mixes n sums of four rows, a multiple of 8 and not 0.
//
//go:noescape
func cvMixCubicNEON(dst *byte, a, b, c, d *int32, n int, w *[4]float32)

// cvLinearU8 is CVResizeU8 of two taps, if there is assembly for it, and says
// so. The vertical pass drops the last 4 of the sums' 11 fractional bits; here
// they go before, so that a sum fits 16 bits.
func cvLinearU8(dst, src []uint8, inW, outW, ch int, x, y *CVTaps, rows []int32, t *CVScratch) bool {
	if x.K != 2 || y.K != 2 || len(x.pair) != outW || outW == 0 || !cpu.Has(cpu.NEON) || (ch != 1 && ch != 3 && ch != 4) || int(x.first[outW-1]) >= inW {
		return false
	}
	for _, w := range y.WI {
		if w < 0 || w > 1<<cvBits {
			return false
		}
	}
	line := outW * ch
	rows = rows[:2*line]
	// Half of the memory is free after each row: cvRow3NEON writes beyond its end.
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

// cvLinearRow is CVRowU8 with 7 fractional bits. src begins with the row and
// goes on to the end of the image; sums has room for twice the row.
func cvLinearRow(sums []int16, src []uint8, inW, ch int, x *CVTaps) {
	row := src[:inW*ch]
	n, wide, reads := len(x.first), 4, 8
	if ch == 1 {
		wide, reads = 8, 2
	}
	for n > 0 && int(x.first[n-1])*ch+reads > len(src) {
		n--
	}
	n = n / wide * wide
	if n > 0 {
		_ = sums[:2*len(x.first)*ch]
		switch ch {
		case 1:
			cvRow1NEON(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		case 3:
			cvRow3NEON(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
		case 4:
			cvRow4NEON(&sums[0], &src[0], n, &x.first[0], &x.pair[0])
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
func cvMixLinear(dst []uint8, a, b []int16, t, u int32) {
	n := len(dst) &^ 15
	a, b = a[:len(dst)], b[:len(dst)]
	if n > 0 {
		cvMixLinearNEON(&dst[0], &a[0], &b[0], n, int(t|u<<16))
	}
	for ; n < len(dst); n++ {
		v := (t*int32(a[n])>>16 + u*int32(b[n])>>16 + 2) >> 2
		dst[n] = uint8(min(max(v, 0), 255))
	}
}

// cvCubicRow is CVRowU8 of the outputs from from up to to, whose four taps are
// neighbours. src begins with the row and goes on to the end of the image.
func cvCubicRow(sums []int32, src []uint8, inW, ch int, x *CVTaps) (from, to int) {
	if x.K != 4 || (ch != 1 && ch != 3 && ch != 4) || !cpu.Has(cpu.NEON) {
		return 0, 0
	}
	from, to = x.inner[0], x.inner[1]
	wide, reads := 2, 16
	switch ch {
	case 1:
		wide, reads = 4, 4
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
		cvCubic1NEON(d, &src[0], n, first, pairs)
	case 3:
		cvCubic3NEON(d, &src[0], n, first, pairs)
	case 4:
		cvCubic4NEON(d, &src[0], n, first, pairs)
	}
	return from, to
}

// cvAreaRowU8 is CVAreaRow if there is assembly for it, and says so. Sums of
// numbers that are not negative stay the same when 0 times a number is added.
func cvAreaRowU8(dst []float32, src []uint8, ch int, x *AreaTab) bool {
	outs := len(x.first)
	if x.k == 0 || (ch != 1 && ch != 3 && ch != 4) || !cpu.Has(cpu.NEON) {
		return false
	}
	dst = dst[:outs*ch]
	if len(x.row) < len(src)+4 {
		x.row = make([]float32, len(src)+4)
	}
	row := x.row
	n := len(src) &^ 15
	if n > 0 {
		bytesToFloatNEON(&row[0], &src[0], n)
	}
	for ; n < len(src); n++ {
		row[n] = float32(src[n])
	}
	_ = src[(int(x.first[outs-1])+x.k)*ch-1] // first ascends
	n = 0
	switch ch {
	case 1:
		if n = outs &^ 3; n > 0 {
			cvArea1NEON(&dst[0], &row[0], n, &x.first[0], &x.across[0], x.k, outs)
		}
	case 3:
		if n = outs - 1; n > 0 {
			cvArea3NEON(&dst[0], &row[0], n, &x.first[0], &x.fixed[0], x.k)
		}
	case 4:
		n = outs
		cvArea4NEON(&dst[0], &row[0], n, &x.first[0], &x.fixed[0], x.k)
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
	if n == 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_ = buf[n-1]
	if first {
		scaleNEON(&sum[0], &buf[0], n, w)
	} else {
		addScaledNEON(&sum[0], &buf[0], n, w)
	}
	return n
}

func roundsU8(dst []uint8, src []float32) int {
	n := len(dst) &^ 15
	if n == 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_ = src[n-1]
	roundU8NEON(&dst[0], &src[0], n)
	return n
}

func cvHalf(dst, a, b []uint8, ch int) int {
	n := len(dst) / ch &^ 7
	if n == 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_, _ = a[2*n*ch-1], b[2*n*ch-1]
	switch ch {
	case 1:
		cvHalf1NEON(&dst[0], &a[0], &b[0], n)
	case 3:
		cvHalf3NEON(&dst[0], &a[0], &b[0], n)
	case 4:
		cvHalf4NEON(&dst[0], &a[0], &b[0], n)
	default:
		return 0
	}
	return n
}

// canPick reports whether pickRow can take the indices.
func canPick(inW, size int, xs []int32) bool {
	if (size != 1 && size != 3 && size != 4) || !cpu.Has(cpu.NEON) {
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
	n := len(xs)
	if size == 3 {
		if inW*size+1 > len(src) {
			return 0
		}
		n--
	}
	n &^= 3
	if n <= 0 {
		return 0
	}
	_, _ = dst[len(xs)*size-1], src[inW*size-1]
	switch size {
	case 1:
		pick1(&dst[0], &src[0], n, &xs[0])
	case 3:
		pick3(&dst[0], &src[0], n, &xs[0])
	case 4:
		pick4(&dst[0], &src[0], n, &xs[0])
	}
	return n
}

// sumRows adds the first len(dst) bytes of rows that are stride apart.
func sumRows(dst []uint16, src []uint8, rows, stride int) int {
	n := len(dst) &^ 15
	if n == 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_ = src[(rows-1)*stride+n-1]
	sumRowsNEON(&dst[0], &src[0], n, rows, stride)
	return n
}

// sumBlocks adds k pixels n times, and scales the sums.
func sumBlocks(dst []float32, src []uint16, n, k, ch int, scale float32) int {
	if ch > 4 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_, _ = dst[(n-1)*ch+3], src[(n*k-1)*ch+3]
	sumBlocksNEON(&dst[0], &src[0], n, k, ch, scale)
	return n
}

// cvMixCubic mixes all of dst, which is whole vectors of 8.
func cvMixCubic(dst []uint8, a, b, c, d []int32, w [4]float32) int {
	n := len(dst)
	if n == 0 || n%8 != 0 || !cpu.Has(cpu.NEON) {
		return 0
	}
	_, _, _, _ = a[n-1], b[n-1], c[n-1], d[n-1]
	cvMixCubicNEON(&dst[0], &a[0], &b[0], &c[0], &d[0], n, &w)
	return n
}
