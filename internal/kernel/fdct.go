package kernel

import "math/bits"

// NaturalOrder maps the zigzag index of a coefficient to its index in a block.
// Corrupt data can exceed the end by up to 15; such coefficients go to the last
// place, as in libjpeg. It has 128 entries so that k&127 needs no bounds check.
var NaturalOrder = [128]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
}

// zigzagOf is the inverse of NaturalOrder.
var zigzagOf = func() (t [64]uint8) {
	for k, at := range NaturalOrder[:64] {
		t[at] = uint8(k)
	}
	return t
}()

// Divisors divides the output of the forward DCT by a quantization table. For
// every value v of the DCT, it computes sign(v) * floor((|v| + 4q) / 8q), which
// is the rounded quotient; the DCT's output has a factor of 8.
type Divisors struct {
	// The quotient is ((|v| + add) * recip >> 16) * scale >> 16, all unsigned
	// 16-bit, in natural order.
	add, recip, scale [64]uint16
}

// Set makes d the divisors of a table in natural order, with values of 1 to
// 255.
func (d *Divisors) Set(quant *[64]uint8) {
	for i, q := range quant {
		// The reciprocal is 2^(16+b)/8q, where b makes it a number of exactly
		// 16 bits. If it is rounded down, one more is added to |v|. The tests
		// check the quotient of every value.
		n := uint32(q) * 8
		b := bits.Len32(n) - 1
		f, rest := uint32(1)<<(16+b)/n, uint32(1)<<(16+b)%n
		add := n / 2
		switch {
		case rest == 0: // a power of two
			f >>= 1
			b--
		case rest <= n/2:
			add++
		default:
			f++
		}
		d.add[i], d.recip[i], d.scale[i] = uint16(add), uint16(f), 1<<(16-b)
	}
}

// FDCTRow transforms a row of len(blocks) blocks of 8x8 samples, whose rows are
// stride bytes apart in src. It writes the quantized coefficients in natural
// order. Bit k of masks[i] is set if coefficient k of block i, in zigzag order,
// is not zero.
//
// The DCT is libjpeg's accurate integer transform ("islow"): Loeffler,
// Ligtenberg and Moschytz's, in 13-bit fixed point, with 2 additional bits
// between the passes.
func FDCTRow(blocks [][64]int16, masks []uint64, src []byte, stride int, d *Divisors) {
	masks = masks[:len(blocks)]
	if fdctRow(blocks, masks, src, stride, d) {
		return
	}
	for i := range blocks {
		masks[i] = fdctBlock(&blocks[i], src[8*i:], stride, d)
	}
}

// The factors of the transform, times 8192.
const (
	fdct0298 = 2446
	fdct0390 = 3196
	fdct0541 = 4433
	fdct0765 = 6270
	fdct0899 = 7373
	fdct1175 = 9633
	fdct1501 = 12299
	fdct1847 = 15137
	fdct1961 = 16069
	fdct2053 = 16819
	fdct2562 = 20995
	fdct3072 = 25172
)

// fdctOdd returns the outputs 1, 3, 5 and 7 of a pass, times 8192. The inputs
// are the differences of samples 0 and 7, 1 and 6, 2 and 5, 3 and 4.
func fdctOdd(d0, d1, d2, d3 int32) (o1, o3, o5, o7 int32) {
	a, b := (d3+d1)*-fdct1961, (d2+d0)*-fdct0390
	s := (d3 + d1 + d2 + d0) * fdct1175
	a, b = a+s, b+s
	u, v := (d3+d0)*-fdct0899, (d2+d1)*-fdct2562
	return d0*fdct1501 + u + b, d1*fdct3072 + v + a, d2*fdct2053 + v + b, d3*fdct0298 + u + a
}

func fdctBlock(block *[64]int16, src []byte, stride int, d *Divisors) (mask uint64) {
	var w [64]int32
	for y := range 8 {
		s := src[y*stride:][:8:8]
		p := w[8*y:][:8:8]
		s0, d0 := int32(s[0])+int32(s[7]), int32(s[0])-int32(s[7])
		s1, d1 := int32(s[1])+int32(s[6]), int32(s[1])-int32(s[6])
		s2, d2 := int32(s[2])+int32(s[5]), int32(s[2])-int32(s[5])
		s3, d3 := int32(s[3])+int32(s[4]), int32(s[3])-int32(s[4])
		t0, t3 := s0+s3, s0-s3
		t1, t2 := s1+s2, s1-s2
		p[0] = (t0 + t1 - 8*128) << 2
		p[4] = (t0 - t1) << 2
		z := (t2 + t3) * fdct0541
		const half = 1 << 10
		p[2] = (z + t3*fdct0765 + half) >> 11
		p[6] = (z - t2*fdct1847 + half) >> 11
		o1, o3, o5, o7 := fdctOdd(d0, d1, d2, d3)
		p[1], p[3], p[5], p[7] = (o1+half)>>11, (o3+half)>>11, (o5+half)>>11, (o7+half)>>11
	}
	for x := range 8 {
		s0, d0 := w[x]+w[56+x], w[x]-w[56+x]
		s1, d1 := w[8+x]+w[48+x], w[8+x]-w[48+x]
		s2, d2 := w[16+x]+w[40+x], w[16+x]-w[40+x]
		s3, d3 := w[24+x]+w[32+x], w[24+x]-w[32+x]
		t0, t3 := s0+s3, s0-s3
		t1, t2 := s1+s2, s1-s2
		w[x] = (t0 + t1 + 2) >> 2
		w[32+x] = (t0 - t1 + 2) >> 2
		z := (t2 + t3) * fdct0541
		const half = 1 << 14
		w[16+x] = (z + t3*fdct0765 + half) >> 15
		w[48+x] = (z - t2*fdct1847 + half) >> 15
		o1, o3, o5, o7 := fdctOdd(d0, d1, d2, d3)
		w[8+x], w[24+x], w[40+x], w[56+x] = (o1+half)>>15, (o3+half)>>15, (o5+half)>>15, (o7+half)>>15
	}
	for i, v := range &w {
		sign := v >> 31
		n := uint32((v^sign)-sign) + uint32(d.add[i])
		n = n * uint32(d.recip[i]) >> 16 * uint32(d.scale[i]) >> 16
		block[i] = int16(int32(n) ^ sign - sign)
		if n != 0 {
			mask |= 1 << zigzagOf[i]
		}
	}
	return mask
}
