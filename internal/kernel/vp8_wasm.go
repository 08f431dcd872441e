//go:build goexperiment.simd && wasm && !purego

package kernel

import "simd/archsimd"

// rgbOrders move bytes of R, G and B to the first 16 bytes of 16 pixels, then
// to the next 16, and to the last.
var rgbOrders = [9][16]int8{
	{0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5},
	{-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1},
	{-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1},
	{-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1},
	{5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10},
	{-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1},
	{-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1},
	{-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1},
	{10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15},
}

// vp8ToRGB converts the pixels between the first and the last columns of
// samples and returns the number of columns that are done.
func vp8ToRGB(dst, y []byte, c *VP8Chroma420, size int) int {
	gaps := (len(y) - 1) / 2 // between columns of samples; each has two pixels
	if gaps < 16 || size != 3 {
		return 0
	}
	var order [9]i8x16
	for i := range order {
		order[i] = order16(&rgbOrders[i])
	}
	low := archsimd.BroadcastUint16x8(255)
	for i := 0; ; i += 16 {
		i = min(i, gaps-16)
		un, uf, vn, vf := c.UNear[i:][:17], c.UFar[i:][:17], c.VNear[i:][:17], c.VFar[i:][:17]
		un0, un1, uf0, uf1 := load16(un), load16(un[1:]), load16(uf), load16(uf[1:])
		vn0, vn1, vf0, vf1 := load16(vn), load16(vn[1:]), load16(vf), load16(vf[1:])
		u0, u1 := vp8MixedVector(un0.ExtendLo8ToUint16(), un1.ExtendLo8ToUint16(), uf0.ExtendLo8ToUint16(), uf1.ExtendLo8ToUint16())
		v0, v1 := vp8MixedVector(vn0.ExtendLo8ToUint16(), vn1.ExtendLo8ToUint16(), vf0.ExtendLo8ToUint16(), vf1.ExtendLo8ToUint16())
		for h := range 2 {
			if h == 1 {
				u0, u1 = vp8MixedVector(un0.ExtendHi8ToUint16(), un1.ExtendHi8ToUint16(), uf0.ExtendHi8ToUint16(), uf1.ExtendHi8ToUint16())
				v0, v1 = vp8MixedVector(vn0.ExtendHi8ToUint16(), vn1.ExtendHi8ToUint16(), vf0.ExtendHi8ToUint16(), vf1.ExtendHi8ToUint16())
			}
			x := 2*(i+8*h) + 1
			l := load16(y[x:]).ReshapeToUint16s()
			r, g, b := vp8Colour(l.And(low), u0, v0)
			r1, g1, b1 := vp8Colour(l.ShiftAllRight(8), u1, v1)
			rr := asBytes(r.Or(r1.ShiftAllLeft(8)))
			gg := asBytes(g.Or(g1.ShiftAllLeft(8)))
			bb := asBytes(b.Or(b1.ShiftAllLeft(8)))
			out := dst[3*x:][:48]
			store16(out, rr.LookupOrZero(order[0]).Or(gg.LookupOrZero(order[1])).Or(bb.LookupOrZero(order[2])).ToBits())
			store16(out[16:], rr.LookupOrZero(order[3]).Or(gg.LookupOrZero(order[4])).Or(bb.LookupOrZero(order[5])).ToBits())
			store16(out[32:], rr.LookupOrZero(order[6]).Or(gg.LookupOrZero(order[7])).Or(bb.LookupOrZero(order[8])).ToBits())
		}
		if i == gaps-16 {
			return gaps
		}
	}
}

// vp8MixedVector is vp8Mixed.
func vp8MixedVector(n0, n1, f0, f1 u16x8) (u16x8, u16x8) {
	a, b := n1.Add(f0), n0.Add(f1)
	sum := a.Add(b).Add(archsimd.BroadcastUint16x8(8))
	return sum.Add(a).Add(a).ShiftAllRight(3).Add(n0).ShiftAllRight(1), sum.Add(b).Add(b).ShiftAllRight(3).Add(n1).ShiftAllRight(1)
}

// vp8Times returns v times f without the lower 8 bits. v is below 256.
func vp8Times(v u16x8, f uint16) u16x8 {
	v = v.ShiftAllLeft(8)
	w := archsimd.BroadcastUint16x8(f)
	return high(v.MulWidenLo(w).BitsToInt32(), v.MulWidenHi(w).BitsToInt32(), order16(&highLo), order16(&highHi)).ToBits()
}

// vp8Colour is vp8Pixel for eight pixels.
func vp8Colour(y, u, v u16x8) (r, g, b i16x8) {
	zero, most := archsimd.BroadcastInt16x8(0), archsimd.BroadcastInt16x8(255)
	luma := vp8Times(y, 19077)
	l := luma.BitsToInt16()
	r = l.Add(vp8Times(v, 26149).BitsToInt16()).Sub(archsimd.BroadcastInt16x8(14234)).ShiftAllRight(6)
	g = l.Sub(vp8Times(u, 6419).BitsToInt16()).Sub(vp8Times(v, 13320).BitsToInt16()).Add(archsimd.BroadcastInt16x8(8708)).ShiftAllRight(6)
	// Blue needs 16 bits without a sign.
	blue := luma.AddSaturated(vp8Times(u, 33050)).SubSaturated(archsimd.BroadcastUint16x8(17685)).ShiftAllRight(6)
	return r.Max(zero).Min(most), g.Max(zero).Min(most), blue.BitsToInt16().Min(most)
}
