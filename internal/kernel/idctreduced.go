package kernel

// These inverse DCTs return a block at a half, a quarter or an eighth of its
// size. They are libjpeg's jidctred.c, whose outputs are the means of adjacent
// outputs of the full transform. Halves and quarters match libjpeg-turbo's SIMD
// code (simd/x86_64/jidctred-sse2.asm of 3.1).
//
// The name of a constant holds its value in thousandths.
const (
	g0211 = 1730
	g0509 = 4176
	g0601 = 4926
	g0720 = 5906
	g0765 = 6270
	g0850 = 6967
	g0899 = 7373
	g1061 = 8697
	g1272 = 10426
	g1451 = 11893
	g1847 = 15137
	g2172 = 17799
	g2562 = 20995
	g3624 = 29692
)

// dct4 is the one-dimensional transform of 8 values to 4, before the final
// scaling. It does not use the fifth value. Sums wrap around at 32 bits.
func dct4(in0, in1, in2, in3, in5, in6, in7 int16) (o0, o1, o2, o3 int32) {
	e := int32(in0) << (constBits + 1)
	z := int32(in2)*g1847 - int32(in6)*g0765
	u0 := int32(in1)*g1061 - int32(in3)*g2172 + int32(in5)*g1451 - int32(in7)*g0211
	u2 := int32(in1)*g2562 + int32(in3)*g0899 - int32(in5)*g0601 - int32(in7)*g0509
	return e + z + u2, e - z + u0, e - z - u0, e + z - u2
}

// IDCT4 dequantizes a block of coefficients in natural order and writes 4x4
// samples to dst: the block at half its size.
func IDCT4(dst []byte, stride int, coef, quant *[64]int16) {
	var ws [32]int16
	var ac int16
	for i := 8; i < 64; i += 8 {
		if i != 32 {
			ac |= coef[i] | coef[i+1] | coef[i+2] | coef[i+3] | coef[i+4] | coef[i+5] | coef[i+6] | coef[i+7]
		}
	}
	for c := range 8 {
		if ac == 0 {
			// Only the first row is nonzero: the SIMD code then shifts within
			// 16 bits.
			v := coef[c] * quant[c] << pass1Bits
			ws[c], ws[c+8], ws[c+16], ws[c+24] = v, v, v, v
			continue
		}
		o0, o1, o2, o3 := dct4(coef[c]*quant[c], coef[c+8]*quant[c+8], coef[c+16]*quant[c+16], coef[c+24]*quant[c+24],
			coef[c+40]*quant[c+40], coef[c+48]*quant[c+48], coef[c+56]*quant[c+56])
		const shift = constBits - pass1Bits + 1
		const round = 1 << (shift - 1)
		ws[c] = sat16((o0 + round) >> shift)
		ws[c+8] = sat16((o1 + round) >> shift)
		ws[c+16] = sat16((o2 + round) >> shift)
		ws[c+24] = sat16((o3 + round) >> shift)
	}
	for r := range 4 {
		w := ws[r*8 : r*8+8 : r*8+8]
		out := dst[r*stride : r*stride+4 : r*stride+4]
		o0, o1, o2, o3 := dct4(w[0], w[1], w[2], w[3], w[5], w[6], w[7])
		const shift = constBits + pass1Bits + 3 + 1
		const round = 1 << (shift - 1)
		out[0] = clamp8((o0 + round) >> shift)
		out[1] = clamp8((o1 + round) >> shift)
		out[2] = clamp8((o2 + round) >> shift)
		out[3] = clamp8((o3 + round) >> shift)
	}
}

// dct2 is the odd part of the one-dimensional transform of 8 values to 2.
func dct2(in1, in3, in5, in7 int16) int32 {
	return int32(in1)*g3624 - int32(in3)*g1272 + int32(in5)*g0850 - int32(in7)*g0720
}

// IDCT2 dequantizes a block of coefficients in natural order and writes 2x2
// samples to dst: the block at a quarter of its size.
func IDCT2(dst []byte, stride int, coef, quant *[64]int16) {
	// a and b are the two rows. Unlike the others, their first values keep 32
	// bits.
	column := func(c int) (a, b int32) {
		const shift = constBits - pass1Bits + 2
		const round = 1 << (shift - 1)
		e := int32(coef[c]*quant[c]) << (constBits + 2)
		o := dct2(coef[c+8]*quant[c+8], coef[c+24]*quant[c+24], coef[c+40]*quant[c+40], coef[c+56]*quant[c+56])
		return (e + o + round) >> shift, (e - o + round) >> shift
	}
	var ws [2][8]int32
	for _, c := range [...]int{0, 1, 3, 5, 7} {
		ws[0][c], ws[1][c] = column(c)
	}
	for r := range ws {
		w := &ws[r]
		out := dst[r*stride : r*stride+2 : r*stride+2]
		e := w[0] << (constBits + 2)
		o := dct2(sat16(w[1]), sat16(w[3]), sat16(w[5]), sat16(w[7]))
		const shift = constBits + pass1Bits + 3 + 2
		const round = 1 << (shift - 1)
		out[0] = clamp8((e + o + round) >> shift)
		out[1] = clamp8((e - o + round) >> shift)
	}
}

// IDCT1 writes the mean of a block to dst[0]. A table of 1024 entries limits
// the result, so values outside it wrap around.
func IDCT1(dst []byte, _ int, coef, quant *[64]int16) {
	v := (int32(coef[0])*int32(quant[0]) + 4) >> 3
	dst[0] = clamp8(v << 22 >> 22)
}

// IDCTRow4 is IDCT4 for a row of blocks, like IDCTRow: block i goes to
// dst[4*i:].
func IDCTRow4(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) {
	if len(blocks) == 0 || idctRow4(dst, stride, blocks, quant, last) {
		return
	}
	_ = last[len(blocks)-1]
	for i := range blocks {
		IDCT4(dst[4*i:], stride, &blocks[i], quant)
	}
}

// IDCTRow2 is IDCT2 for a row of blocks, like IDCTRow: block i goes to
// dst[2*i:].
func IDCTRow2(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) {
	if len(blocks) == 0 || idctRow2(dst, stride, blocks, quant, last) {
		return
	}
	_ = last[len(blocks)-1]
	for i := range blocks {
		IDCT2(dst[2*i:], stride, &blocks[i], quant)
	}
}

// IDCTRow1 is IDCT1 for a row of blocks: block i goes to dst[i]. It ignores the
// stride and the last indices.
func IDCTRow1(dst []byte, _ int, blocks [][64]int16, quant *[64]int16, _ []uint8) {
	dst = dst[:len(blocks)]
	for i := range blocks {
		dst[i] = clamp8((int32(blocks[i][0])*int32(quant[0]) + 4) >> 3 << 22 >> 22)
	}
}
