package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The constants of idctreduced.go.
const (
	g0211, g0509, g0601, g0720, g0765, g0850, g0899 = 1730, 4176, 4926, 5906, 6270, 6967, 7373
	g1061, g1272, g1451, g1847, g2172, g2562, g3624 = 8697, 10426, 11893, 15137, 17799, 20995, 29692
)

// dcOnly jumps to dc if both blocks have only a DC coefficient.
func (l *rowLoop) dcOnly() {
	Label("loop")
	a := GP32()
	MOVBLZX(Mem{Base: l.last}, a)
	ORB(Mem{Base: l.last, Index: l.secondLast, Scale: 1}, a.As8())
	JZ(LabelRef("dc"))
}

// dc returns the dequantized DC words of the two blocks.
func (l *rowLoop) dc() VecVirtual {
	dc, q := XMM(), XMM()
	x := GP32()
	MOVWLZX(Mem{Base: l.coef, Index: l.second, Scale: 1}, x)
	SHLL(U8(16), x)
	MOVW(Mem{Base: l.coef}, x.As16())
	VMOVD(x, dc)
	VPBROADCASTW(Mem{Base: l.quant}, q)
	VPMULLW(q, dc, dc)
	return dc
}

// shuffled is a constant of 16 bytes, repeated once.
func shuffled(name string, at ...int) Mem {
	m := GLOBL(name, 8|16)
	for i := range 32 {
		DATA(i, U8(at[i%16]))
	}
	return m
}

var _ = add("jpeg", idct4)

// idct4 transforms two blocks at a time, one per lane.
func idct4() {
	even, odd2, odd0 := words("idct4_even", g1847, -g0765), words("idct4_13_2", g2562, g0899), words("idct4_13_0", g1061, -g2172)
	odd2b, odd0b := words("idct4_57_2", -g0601, -g0509), words("idct4_57_0", g1451, -g0211)
	first := words("idct4_first", 1<<14, 0)
	round1, round2 := dwords("idct4_round1", 1<<11), dwords("idct4_round2", 1<<18)
	// Words 0, 4, 2, 6, 1, 3, 5, 7.
	pairs := shuffled("idct4_pairs", 0, 1, 8, 9, 4, 5, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
	transpose := shuffled("idct4_transpose", 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
	middle := bytes("idct4_middle", 128, 128)
	spread := shuffled("idct4_spread", 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1)
	sixteen := words("idct4_16", 16, 16)

	l := idctLoop("idctRow4SIMD", "idctRow4SIMD is IDCTRow4 of n blocks, n > 0.")
	flag := GP64()
	l.dcOnly()
	// four computes 4 values from the pairs of 7 values. p0 holds value 0 in
	// its low words.
	four := func(p0, p26, p13, p57 VecVirtual, round Mem, shift uint64) [4]VecVirtual {
		e := madd(p0, first)
		VPADDD(round, e, e)
		z := madd(p26, even)
		u2, u0, t := madd(p13, odd2), madd(p13, odd0), madd(p57, odd2b)
		VPADDD(t, u2, u2)
		t = madd(p57, odd0b)
		VPADDD(t, u0, u0)
		var o [4]VecVirtual
		for i := range o {
			o[i] = YMM()
		}
		VPADDD(z, e, o[0])
		VPSUBD(z, e, o[1])
		VPSUBD(u2, o[0], o[3])
		VPADDD(u2, o[0], o[0])
		VPSUBD(u0, o[1], o[2])
		VPADDD(u0, o[1], o[1])
		for _, v := range o {
			VPSRAD(U8(shift), v, v)
		}
		return o
	}
	in0 := l.scaled(0)
	overflows(in0)
	SETNE(flag.As8())
	in1, in2, in3, in5, in6, in7 := l.scaled(1), l.scaled(2), l.scaled(3), l.scaled(5), l.scaled(6), l.scaled(7)
	var w [4]VecVirtual
	for half, unpack := range []func(a, b, c Op){wl, wh} {
		pair := func(a, b VecVirtual) VecVirtual {
			x := YMM()
			unpack(b, a, x)
			return x
		}
		o := four(pair(in0, in0), pair(in2, in6), pair(in1, in3), pair(in5, in7), round1, 12)
		for i, v := range o {
			if half == 0 {
				w[i] = v
			} else {
				VPACKSSDW(v, w[i], w[i])
			}
		}
	}
	TESTB(flag.As8(), flag.As8())
	JNZ(LabelRef("wrap"))
	Label("transpose")
	for _, v := range w {
		VPSHUFB(pairs, v, v)
	}
	a, b := zip(w[0], w[1], dl, dh)
	c, d := zip(w[2], w[3], dl, dh)
	p0, p26 := zip(a, c, ql, qh)
	p13, p57 := zip(b, d, ql, qh)
	o := four(p0, p26, p13, p57, round2, 19)
	VPACKSSDW(o[1], o[0], o[0])
	VPACKSSDW(o[3], o[2], o[2])
	VPACKSSWB(o[2], o[0], o[0])
	VPADDB(middle, o[0], o[0])
	VPSHUFB(transpose, o[0], o[0])
	// Each lane holds four rows of four bytes.
	one, two := o[0].AsX(), XMM()
	VEXTRACTI128(U8(1), o[0], two)
	rows, rows2 := XMM(), XMM()
	VPUNPCKLDQ(two, one, rows)
	VPUNPCKHDQ(two, one, rows2)
	Label("store")
	p := GP64()
	MOVQ(l.dst, p)
	TESTQ(l.single, l.single)
	JNZ(LabelRef("narrow"))
	for i, v := range []VecVirtual{rows, rows2} {
		VMOVQ(v, Mem{Base: p})
		VMOVHPS(v, Mem{Base: p, Index: l.stride, Scale: 1})
		if i == 0 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	JMP(LabelRef("next"))
	Label("narrow")
	for i, v := range []VecVirtual{rows, rows2} {
		VMOVD(v, Mem{Base: p})
		VPEXTRD(U8(2), v, Mem{Base: p, Index: l.stride, Scale: 1})
		if i == 0 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	JMP(LabelRef("next"))

	Label("dc")
	dc := l.dc()
	VPSLLW(U8(2), dc, dc)
	VPADDSW(sixteen, dc, dc)
	VPSRAW(U8(5), dc, dc)
	VPACKSSWB(dc, dc, dc)
	VPADDB(middle, dc, dc)
	VPSHUFB(spread, dc, rows)
	VMOVDQA(rows, rows2)
	JMP(LabelRef("store"))

	// A block with only its first row shifts that within 16 bits. The transform
	// does not use row 4, so it does not count.
	Label("wrap")
	or, zero, row0 := l.row(1), YMM(), l.scaled(0)
	for _, r := range []int{2, 3, 5, 6, 7} {
		VPOR(l.row(r), or, or)
	}
	VPXOR(zero, zero, zero)
	VPCMPEQQ(zero, or, or)
	VPSHUFD(U8(0x4E), or, zero)
	VPAND(zero, or, or)
	VPSLLW(U8(2), row0, row0)
	for _, v := range w {
		VPBLENDVB(or, row0, v, v)
	}
	JMP(LabelRef("transpose"))
	l.end(4)
}

var _ = add("jpeg", idct2)

// idct2 transforms two blocks at a time, one per lane.
func idct2() {
	k13, k57 := words("idct2_13", g3624, -g1272), words("idct2_57", g0850, -g0720)
	// The odd words of 8.
	odd := GLOBL("idct2_odd", 8|16)
	for i := range 8 {
		DATA(4*i, U32(uint32(uint16([]int{g3624, -g1272, g0850, -g0720}[i%4]))<<16))
	}
	round1, round2 := dwords("idct2_round1", 1<<12), dwords("idct2_round2", 1<<19)
	middle := bytes("idct2_middle", 128, 128)
	spread := shuffled("idct2_spread", 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1)

	l := idctLoop("idctRow2SIMD", "idctRow2SIMD is IDCTRow2 of n blocks, n > 0.")
	l.dcOnly()
	in0, in1, in3, in5, in7 := l.scaled(0), l.scaled(1), l.scaled(3), l.scaled(5), l.scaled(7)
	zero := YMM()
	VPXOR(zero, zero, zero)
	var a, b [2]VecVirtual
	for half, unpack := range []func(a, b, c Op){wl, wh} {
		e, p13, p57 := YMM(), YMM(), YMM()
		unpack(in0, zero, e)
		VPSRAD(U8(1), e, e)
		VPADDD(round1, e, e)
		unpack(in3, in1, p13)
		unpack(in7, in5, p57)
		VPMADDWD(k13, p13, p13)
		VPMADDWD(k57, p57, p57)
		VPADDD(p57, p13, p13)
		a[half], b[half] = YMM(), e
		VPADDD(p13, e, a[half])
		VPSUBD(p13, e, e)
		VPSRAD(U8(13), a[half], a[half])
		VPSRAD(U8(13), e, e)
	}
	// The first column keeps 32 bits.
	firsts := YMM()
	VPUNPCKLDQ(b[0], a[0], firsts)
	VPSLLD(U8(15), firsts, firsts)
	VPADDD(round2, firsts, firsts)
	VPACKSSDW(a[1], a[0], a[0])
	VPACKSSDW(b[1], b[0], b[0])
	VPMADDWD(odd, a[0], a[0])
	VPMADDWD(odd, b[0], b[0])
	VPHADDD(b[0], a[0], a[0])
	VPHADDD(a[0], a[0], a[0]) // row 0, row 1, and again
	// Combine both rows of the first pixel and of the second.
	dif := YMM()
	VPSUBD(a[0], firsts, dif)
	VPADDD(a[0], firsts, firsts)
	VPUNPCKLDQ(dif, firsts, firsts)
	VPSRAD(U8(20), firsts, firsts)
	VPACKSSDW(firsts, firsts, firsts)
	two, rows := XMM(), XMM()
	VEXTRACTI128(U8(1), firsts, two)
	VPUNPCKLDQ(two, firsts.AsX(), rows) // row 0 of both, row 1 of both
	VPACKSSWB(rows, rows, rows)
	VPADDB(middle, rows, rows)
	Label("store")
	both := GP64()
	VMOVQ(rows, both)
	TESTQ(l.single, l.single)
	JNZ(LabelRef("narrow"))
	MOVL(both.As32(), Mem{Base: l.dst})
	SHRQ(U8(32), both)
	MOVL(both.As32(), Mem{Base: l.dst, Index: l.stride, Scale: 1})
	JMP(LabelRef("next"))
	Label("narrow")
	MOVW(both.As16(), Mem{Base: l.dst})
	SHRQ(U8(32), both)
	MOVW(both.As16(), Mem{Base: l.dst, Index: l.stride, Scale: 1})
	JMP(LabelRef("next"))

	Label("dc")
	dc := l.dc()
	VPMOVZXWD(dc, dc)
	VPSLLD(U8(17), dc, dc)
	VPADDD(round2, dc, dc)
	VPSRAD(U8(20), dc, dc)
	VPACKSSDW(dc, dc, dc)
	VPACKSSWB(dc, dc, dc)
	VPADDB(middle, dc, dc)
	VPSHUFB(spread, dc, rows)
	JMP(LabelRef("store"))
	l.end(2)
}
