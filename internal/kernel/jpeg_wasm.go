//go:build goexperiment.simd && wasm && !purego

package kernel

import (
	"encoding/binary"
	"simd/archsimd"
	"unsafe"
)

// idctRow is IDCTRow.
func idctRow(dst []byte, stride int, blocks [][64]int16, quant *[64]int16, last []uint8) bool {
	for i := range blocks {
		if last[i] == 0 {
			IDCTDC(dst[8*i:], stride, blocks[i][0], quant[0])
		} else {
			idct(dst[8*i:], stride, &blocks[i], quant)
		}
	}
	return true
}

// idct is IDCT. Each pass transforms four columns, then rows, at a time; the
// first writes its results transposed, so that the two read alike.
func idct(dst []byte, stride int, coef, quant *[64]int16) {
	var turned [16]uint64 // [column][row / 4], four int16 each
	c := (*[16]uint64)(unsafe.Pointer(coef))
	q := (*[16]uint64)(unsafe.Pointer(quant))
	var ac uint64
	for _, v := range c[2:] {
		ac |= v
	}
	if ac == 0 {
		// Only the first row is nonzero: the SIMD code then shifts within 16
		// bits.
		for i := range 8 {
			v := uint64(uint16(coef[i] * quant[i] << pass1Bits))
			v |= v << 16
			v |= v << 32
			turned[2*i], turned[2*i+1] = v, v
		}
	}
	most, least := archsimd.BroadcastInt32x4(1<<15-1), archsimd.BroadcastInt32x4(-1<<15)
	low := archsimd.BroadcastInt32x4(0xffff)
	for pass := range 4 {
		h := pass & 1
		var in0, in1, in2, in3, in4, in5, in6, in7 i16x8
		if pass < 2 {
			if ac == 0 {
				continue
			}
			in0, in1 = int16s(c[h]).Mul(int16s(q[h])), int16s(c[2+h]).Mul(int16s(q[2+h]))
			in2, in3 = int16s(c[4+h]).Mul(int16s(q[4+h])), int16s(c[6+h]).Mul(int16s(q[6+h]))
			in4, in5 = int16s(c[8+h]).Mul(int16s(q[8+h])), int16s(c[10+h]).Mul(int16s(q[10+h]))
			in6, in7 = int16s(c[12+h]).Mul(int16s(q[12+h])), int16s(c[14+h]).Mul(int16s(q[14+h]))
		} else {
			in0, in1, in2, in3 = int16s(turned[h]), int16s(turned[2+h]), int16s(turned[4+h]), int16s(turned[6+h])
			in4, in5, in6, in7 = int16s(turned[8+h]), int16s(turned[10+h]), int16s(turned[12+h]), int16s(turned[14+h])
		}

		// This is dct1.
		t2 := times(in2, f0541).Add(times(in6, f0541-f1847))
		t3 := times(in2, f0541+f0765).Add(times(in6, f0541))
		t0 := times(in0.Add(in4), 1<<constBits)
		t1 := times(in0.Sub(in4), 1<<constBits)
		e0, e3 := t0.Add(t3), t0.Sub(t3)
		e1, e2 := t1.Add(t2), t1.Sub(t2)
		z3, z4 := in7.Add(in3), in5.Add(in1)
		y3 := times(z3, f1175-f1961).Add(times(z4, f1175))
		y4 := times(z3, f1175).Add(times(z4, f1175-f0390))
		u0 := times(in7, f0298-f0899).Sub(times(in1, f0899)).Add(y3)
		u1 := times(in5, f2053-f2562).Sub(times(in3, f2562)).Add(y4)
		u2 := times(in3, f3072-f2562).Sub(times(in5, f2562)).Add(y3)
		u3 := times(in1, f1501-f0899).Sub(times(in7, f0899)).Add(y4)
		o0, o1, o2, o3 := e0.Add(u3), e1.Add(u2), e2.Add(u1), e3.Add(u0)
		o4, o5, o6, o7 := e3.Sub(u0), e2.Sub(u1), e1.Sub(u2), e0.Sub(u3)

		if pass < 2 {
			const shift = constBits - pass1Bits
			round := archsimd.BroadcastInt32x4(1 << (shift - 1))
			o0 = o0.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o1 = o1.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o2 = o2.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o3 = o3.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o4 = o4.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o5 = o5.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o6 = o6.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			o7 = o7.Add(round).ShiftAllRight(shift).Min(most).Max(least)
			r01, r23 := o0.And(low).Or(o1.ShiftAllLeft(16)), o2.And(low).Or(o3.ShiftAllLeft(16))
			r45, r67 := o4.And(low).Or(o5.ShiftAllLeft(16)), o6.And(low).Or(o7.ShiftAllLeft(16))
			t := (*[8]uint64)(turned[8*h:])
			t[0], t[2], t[4], t[6] = pairs(r01, r23)
			t[1], t[3], t[5], t[7] = pairs(r45, r67)
			continue
		}
		const shift = constBits + pass1Bits + 3
		round, center := archsimd.BroadcastInt32x4(1<<(shift-1)), archsimd.BroadcastInt32x4(128)
		zero, top := archsimd.BroadcastInt32x4(0), archsimd.BroadcastInt32x4(255)
		v0 := o0.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v1 := o1.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v2 := o2.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v3 := o3.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v4 := o4.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v5 := o5.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v6 := o6.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		v7 := o7.Add(round).ShiftAllRight(shift).Add(center).Max(zero).Min(top)
		left := v0.Or(v1.ShiftAllLeft(8)).Or(v2.ShiftAllLeft(16).Or(v3.ShiftAllLeft(24)))
		right := v4.Or(v5.ShiftAllLeft(8)).Or(v6.ShiftAllLeft(16).Or(v7.ShiftAllLeft(24)))
		r0, r1, r2, r3 := pairs(left, right)
		out := dst[4*h*stride:]
		binary.LittleEndian.PutUint64(out, r0)
		binary.LittleEndian.PutUint64(out[stride:], r1)
		binary.LittleEndian.PutUint64(out[2*stride:], r2)
		binary.LittleEndian.PutUint64(out[3*stride:], r3)
	}
}

// int16s returns four int16 in both halves of a vector.
func int16s(v uint64) i16x8 { return archsimd.BroadcastUint64x2(v).ReshapeToUint16s().BitsToInt16() }

// times multiplies the lower four int16 by f.
func times(v i16x8, f int16) i32x4 { return v.MulWidenLo(archsimd.BroadcastInt16x8(f)) }

// pairs returns, for each of four lanes, the lane of a and then that of b.
func pairs(a, b i32x4) (p0, p1, p2, p3 uint64) {
	x, y := a.ToBits(), b.ToBits()
	lo := x.ExtendLo2ToUint64().Or(y.ExtendLo2ToUint64().ShiftAllLeft(32))
	hi := x.ExtendHi2ToUint64().Or(y.ExtendHi2ToUint64().ShiftAllLeft(32))
	return lo.GetElem(0), lo.GetElem(1), hi.GetElem(0), hi.GetElem(1)
}

func idctRow4([]byte, int, [][64]int16, *[64]int16, []uint8) bool { return false }

func idctRow2([]byte, int, [][64]int16, *[64]int16, []uint8) bool { return false }

// upsampleH2V1 writes all pairs of dst except the first and the last.
func upsampleH2V1(dst, src []byte) bool {
	n := len(src) - 2
	if n < 16 {
		return false
	}
	one := archsimd.BroadcastUint16x8(1)
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		in := src[i:][:18]
		a, b, c := load16(in), load16(in[1:]), load16(in[2:])
		out := dst[2+2*i:][:32]
		v := b.ExtendLo8ToUint16()
		v = v.Add(v).Add(v).Add(one)
		even := v.Add(a.ExtendLo8ToUint16()).ShiftAllRight(2)
		odd := v.Add(one).Add(c.ExtendLo8ToUint16()).ShiftAllRight(2)
		store16(out, even.Or(odd.ShiftAllLeft(8)).ReshapeToUint8s())
		v = b.ExtendHi8ToUint16()
		v = v.Add(v).Add(v).Add(one)
		even = v.Add(a.ExtendHi8ToUint16()).ShiftAllRight(2)
		odd = v.Add(one).Add(c.ExtendHi8ToUint16()).ShiftAllRight(2)
		store16(out[16:], even.Or(odd.ShiftAllLeft(8)).ReshapeToUint8s())
		if i == n-16 {
			return true
		}
	}
}

// upsampleH2V2 is upsampleH2V1 for two rows.
func upsampleH2V2(dst, near, far []byte) bool {
	n := len(near) - 2
	if n < 16 {
		return false
	}
	far = far[:len(near)]
	seven, one := archsimd.BroadcastUint16x8(7), archsimd.BroadcastUint16x8(1)
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		p, q := near[i:][:18], far[i:][:18]
		p0, p1, p2 := load16(p), load16(p[1:]), load16(p[2:])
		q0, q1, q2 := load16(q), load16(q[1:]), load16(q[2:])
		out := dst[2+2*i:][:32]
		v := mix3(p1.ExtendLo8ToUint16(), q1.ExtendLo8ToUint16())
		v = v.Add(v).Add(v).Add(seven)
		even := v.Add(one).Add(mix3(p0.ExtendLo8ToUint16(), q0.ExtendLo8ToUint16())).ShiftAllRight(4)
		odd := v.Add(mix3(p2.ExtendLo8ToUint16(), q2.ExtendLo8ToUint16())).ShiftAllRight(4)
		store16(out, even.Or(odd.ShiftAllLeft(8)).ReshapeToUint8s())
		v = mix3(p1.ExtendHi8ToUint16(), q1.ExtendHi8ToUint16())
		v = v.Add(v).Add(v).Add(seven)
		even = v.Add(one).Add(mix3(p0.ExtendHi8ToUint16(), q0.ExtendHi8ToUint16())).ShiftAllRight(4)
		odd = v.Add(mix3(p2.ExtendHi8ToUint16(), q2.ExtendHi8ToUint16())).ShiftAllRight(4)
		store16(out[16:], even.Or(odd.ShiftAllLeft(8)).ReshapeToUint8s())
		if i == n-16 {
			return true
		}
	}
}

// mix3 returns 3a + b.
func mix3(a, b u16x8) u16x8 { return a.Add(a).Add(a).Add(b) }

// upsampleH1V2 is UpsampleH1V2. It takes even and odd bytes apart, which needs
// no narrowing.
func upsampleH1V2(dst, near, far []byte, bias int) bool {
	n := len(dst)
	if n < 16 {
		return false
	}
	near, far = near[:n], far[:n]
	round, low := archsimd.BroadcastUint16x8(uint16(bias)), archsimd.BroadcastUint16x8(255)
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		a, b := load16(near[i:]).ReshapeToUint16s(), load16(far[i:]).ReshapeToUint16s()
		even := mix3(a.And(low), b.And(low)).Add(round).ShiftAllRight(2)
		odd := mix3(a.ShiftAllRight(8), b.ShiftAllRight(8)).Add(round).ShiftAllRight(2)
		store16(dst[i:], even.Or(odd.ShiftAllLeft(8)).ReshapeToUint8s())
		if i == n-16 {
			return true
		}
	}
}

// The swizzles of yccToRGB. An index of -1 gives 0.
var (
	// highLo moves the high halves of four int32 to the lower four int16,
	// highHi to the upper four.
	highLo = [16]int8{2, 3, 6, 7, 10, 11, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1}
	highHi = [16]int8{-1, -1, -1, -1, -1, -1, -1, -1, 2, 3, 6, 7, 10, 11, 14, 15}
	// rgLo and bLo make bytes 0 to 15 of eight RGB pixels, rgHi and bHi bytes 8
	// to 23, from eight pairs of R and G, and from eight int16 of B.
	rgLo = [16]int8{0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10}
	bLo  = [16]int8{-1, -1, 0, -1, -1, 2, -1, -1, 4, -1, -1, 6, -1, -1, 8, -1}
	rgHi = [16]int8{-1, 6, 7, -1, 8, 9, -1, 10, 11, -1, 12, 13, -1, 14, 15, -1}
	bHi  = [16]int8{4, -1, -1, 6, -1, -1, 8, -1, -1, 10, -1, -1, 12, -1, -1, 14}
)

// yccToRGB is YCCToRGB. Multiples of 65536 are taken off the factors so that
// they fit 16 bits; the same multiples of the chroma are added afterwards.
func yccToRGB(dst, y, cb, cr []byte) bool {
	n := len(y)
	if n < 16 {
		return false
	}
	dst, cb, cr = dst[:3*n], cb[:n], cr[:n]
	lo, hi := archsimd.LoadInt8x16Array(&highLo), archsimd.LoadInt8x16Array(&highHi)
	rg0, b0 := archsimd.LoadInt8x16Array(&rgLo), archsimd.LoadInt8x16Array(&bLo)
	rg1, b1 := archsimd.LoadInt8x16Array(&rgHi), archsimd.LoadInt8x16Array(&bHi)
	half := archsimd.BroadcastInt32x4(1 << 15)
	center := archsimd.BroadcastInt16x8(128)
	zero, most := archsimd.BroadcastInt16x8(0), archsimd.BroadcastInt16x8(255)
	fr, fb := archsimd.BroadcastInt16x8(fix140200-1<<16), archsimd.BroadcastInt16x8(fix177200-2<<16)
	gb, gr := archsimd.BroadcastInt16x8(-fix034414), archsimd.BroadcastInt16x8(1<<16-fix071414)
	for i := 0; ; i += 16 {
		i = min(i, n-16)
		l8, b8, r8 := load16(y[i:]), load16(cb[i:]), load16(cr[i:])
		out := dst[3*i:][:48]
		for h := range 2 {
			l, b, r := l8.ExtendLo8ToUint16().BitsToInt16(), b8.ExtendLo8ToUint16().BitsToInt16(), r8.ExtendLo8ToUint16().BitsToInt16()
			if h == 1 {
				l, b, r = l8.ExtendHi8ToUint16().BitsToInt16(), b8.ExtendHi8ToUint16().BitsToInt16(), r8.ExtendHi8ToUint16().BitsToInt16()
			}
			b, r = b.Sub(center), r.Sub(center)
			red := high(r.MulWidenLo(fr).Add(half), r.MulWidenHi(fr).Add(half), lo, hi).Add(r).Add(l)
			blue := high(b.MulWidenLo(fb).Add(half), b.MulWidenHi(fb).Add(half), lo, hi).Add(b).Add(b).Add(l)
			green := high(b.MulWidenLo(gb).Add(r.MulWidenLo(gr)).Add(half), b.MulWidenHi(gb).Add(r.MulWidenHi(gr)).Add(half), lo, hi).Sub(r).Add(l)
			rg := asBytes(red.Max(zero).Min(most).Or(green.Max(zero).Min(most).ShiftAllLeft(8)))
			bb := asBytes(blue.Max(zero).Min(most))
			store16(out[24*h:], rg.LookupOrZero(rg0).Or(bb.LookupOrZero(b0)).ToBits())
			store16(out[24*h+8:], rg.LookupOrZero(rg1).Or(bb.LookupOrZero(b1)).ToBits())
		}
		if i == n-16 {
			return true
		}
	}
}

func asBytes(v i16x8) i8x16 { return v.ToBits().ReshapeToUint8s().BitsToInt8() }

// high returns the high halves of eight int32.
func high(a, b i32x4, lo, hi i8x16) i16x8 {
	x := a.ToBits().ReshapeToUint8s().BitsToInt8().LookupOrZero(lo)
	y := b.ToBits().ReshapeToUint8s().BitsToInt8().LookupOrZero(hi)
	return x.Or(y).ToBits().ReshapeToUint16s().BitsToInt16()
}
