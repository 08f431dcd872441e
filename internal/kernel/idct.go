package kernel

import (
	"encoding/binary"
	"math"
)

// Constants of the inverse DCT: 13-bit fixed point, from "Practical fast 1-D
// DCT algorithms with 11 multiplications" (Loeffler, Ligtenberg, Moschytz,
// 1989), as in libjpeg's jidctint.c.
const (
	constBits = 13
	pass1Bits = 2

	f0298 = 2446  // 0.298631336
	f0390 = 3196  // 0.390180644
	f0541 = 4433  // 0.541196100
	f0765 = 6270  // 0.765366865
	f0899 = 7373  // 0.899976223
	f1175 = 9633  // 1.175875602
	f1501 = 12299 // 1.501321110
	f1847 = 15137 // 1.847759065
	f1961 = 16069 // 1.961570560
	f2053 = 16819 // 2.053119869
	f2562 = 20995 // 2.562915447
	f3072 = 25172 // 3.072711026
)

func sat16(v int32) int16 {
	return int16(min(max(v, math.MinInt16), math.MaxInt16))
}

// clamp8 converts a transform's result to a sample.
func clamp8(v int32) byte {
	return byte(min(max(v, -128), 127) + 128)
}

// dct1 is the one-dimensional inverse DCT of 8 values, before the final
// scaling. Sums of inputs wrap around at 16 bits and other sums at 32 bits, as
// in libjpeg's SIMD code.
func dct1(in0, in1, in2, in3, in4, in5, in6, in7 int16) (o0, o1, o2, o3, o4, o5, o6, o7 int32) {
	a2, a6 := int32(in2), int32(in6)
	t2 := a2*f0541 + a6*(f0541-f1847)
	t3 := a2*(f0541+f0765) + a6*f0541
	t0 := int32(in0+in4) << constBits
	t1 := int32(in0-in4) << constBits
	e0, e3 := t0+t3, t0-t3
	e1, e2 := t1+t2, t1-t2

	z3, z4 := int32(in7+in3), int32(in5+in1)
	y3 := z3*(f1175-f1961) + z4*f1175
	y4 := z3*f1175 + z4*(f1175-f0390)
	b7, b5, b3, b1 := int32(in7), int32(in5), int32(in3), int32(in1)
	u0 := b7*(f0298-f0899) - b1*f0899 + y3
	u1 := b5*(f2053-f2562) - b3*f2562 + y4
	u2 := b3*(f3072-f2562) - b5*f2562 + y3
	u3 := b1*(f1501-f0899) - b7*f0899 + y4
	return e0 + u3, e1 + u2, e2 + u1, e3 + u0, e3 - u0, e2 - u1, e1 - u2, e0 - u3
}

// IDCT dequantizes a block of coefficients in natural order and writes its 8x8
// samples to dst. It is libjpeg-turbo's "islow" as its SIMD code computes it.
func IDCT(dst []byte, stride int, coef, quant *[64]int16) {
	var ws [64]int16
	var ac int16
	for i := 8; i < 64; i += 8 {
		ac |= coef[i] | coef[i+1] | coef[i+2] | coef[i+3] | coef[i+4] | coef[i+5] | coef[i+6] | coef[i+7]
	}
	if ac == 0 {
		// Only the first row is nonzero: the SIMD code then shifts within 16
		// bits.
		for c := range 8 {
			v := coef[c] * quant[c] << pass1Bits
			for r := 0; r < 64; r += 8 {
				ws[r+c] = v
			}
		}
	} else {
		for c := range 8 {
			c1, c2, c3, c4, c5, c6, c7 := coef[c+8], coef[c+16], coef[c+24], coef[c+32], coef[c+40], coef[c+48], coef[c+56]
			if c1|c2|c3|c4|c5|c6|c7 == 0 {
				v := sat16(int32(coef[c]*quant[c]) << pass1Bits)
				for r := 0; r < 64; r += 8 {
					ws[r+c] = v
				}
				continue
			}
			o0, o1, o2, o3, o4, o5, o6, o7 := dct1(coef[c]*quant[c], c1*quant[c+8], c2*quant[c+16], c3*quant[c+24],
				c4*quant[c+32], c5*quant[c+40], c6*quant[c+48], c7*quant[c+56])
			const shift = constBits - pass1Bits
			const round = 1 << (shift - 1)
			ws[c] = sat16((o0 + round) >> shift)
			ws[c+8] = sat16((o1 + round) >> shift)
			ws[c+16] = sat16((o2 + round) >> shift)
			ws[c+24] = sat16((o3 + round) >> shift)
			ws[c+32] = sat16((o4 + round) >> shift)
			ws[c+40] = sat16((o5 + round) >> shift)
			ws[c+48] = sat16((o6 + round) >> shift)
			ws[c+56] = sat16((o7 + round) >> shift)
		}
	}
	for r := range 8 {
		w := ws[r*8 : r*8+8 : r*8+8]
		out := dst[r*stride : r*stride+8 : r*stride+8]
		o0, o1, o2, o3, o4, o5, o6, o7 := dct1(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
		const shift = constBits + pass1Bits + 3
		const round = 1 << (shift - 1)
		out[0] = clamp8((o0 + round) >> shift)
		out[1] = clamp8((o1 + round) >> shift)
		out[2] = clamp8((o2 + round) >> shift)
		out[3] = clamp8((o3 + round) >> shift)
		out[4] = clamp8((o4 + round) >> shift)
		out[5] = clamp8((o5 + round) >> shift)
		out[6] = clamp8((o6 + round) >> shift)
		out[7] = clamp8((o7 + round) >> shift)
	}
}

// IDCTDC is IDCT for a block with only a DC coefficient.
func IDCTDC(dst []byte, stride int, dc, q int16) {
	w := dc * q << pass1Bits
	const shift = pass1Bits + 3
	v := clamp8((int32(w) + 1<<(shift-1)) >> shift)
	for r := range 8 {
		binary.LittleEndian.PutUint64(dst[r*stride:], uint64(v)*0x0101010101010101)
	}
}

// IDCTRow is IDCT for a row of blocks with one table. Block i goes to
// dst[8*i:]. last[i] is at least the zigzag index of block i's last nonzero
// coefficient. If it is 0, the block has only a DC coefficient.
func IDCTRow(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) {
	if len(blocks) == 0 || idctRow(dst, stride, blocks, quant, last) {
		return
	}
	for i := range blocks {
		if last[i] == 0 {
			IDCTDC(dst[8*i:], stride, blocks[i][0], quant[0])
		} else {
			IDCT(dst[8*i:], stride, &blocks[i], quant)
		}
	}
}
