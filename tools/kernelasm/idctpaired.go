package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("jpeg", idctPaired)

// idctPaired writes the row function of blocks in paired order. A register
// holds two rows of one block, whose words alternate, then in the second pass
// two columns. So the pairs that VPMADDWD wants need no instructions.
func idctPaired() {
	k := factors{
		words("idct_p_t3", f0541+f0765, f0541),
		words("idct_p_t2", f0541, f0541-f1847),
		words("idct_p_y3", f1175-f1961, f1175),
		words("idct_p_y4", f1175, f1175-f0390),
		words("idct_p_u0", f0298-f0899, -f0899),
		words("idct_p_u3", -f0899, f1501-f0899),
		words("idct_p_u1", -f2562, f2053-f2562),
		words("idct_p_u2", f3072-f2562, -f2562),
	}
	t0, t1 := words("idct_p_t0", one, one), words("idct_p_t1", one, -one)
	// The first pass rounds its 11 bits, and adds to its column 0 what the
	// second pass rounds and the middle of the samples.
	const column0 = 1<<4 + 128<<5
	round := GLOBL("idct_p_round", 8|16)
	for i := range 8 {
		if i == 0 {
			DATA(4*i, U32(1<<10+column0<<11))
		} else {
			DATA(4*i, U32(1<<10))
		}
	}
	// The sums of rows 0 and 4 must not wrap around, nor a block's first row
	// if it is shifted alone: they have 14 bits with their sign, and the sums
	// of the second pass too.
	const limit = 1 << 13
	limits := [2]Mem{words("idct_p_limit0", limit, limit), words("idct_p_limit1", limit-column0, limit)}
	beyond := words("idct_p_beyond", -2*limit, -2*limit)
	turn := shuffled("idct_p_turn", 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
	middle, sixteen := dwords("idct_p_middle", 0x80808080), words("idct_p_16", 16, 16)
	spread := shuffled("idct_p_spread", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

	TEXT("idctRowPairedAVX2", NOSPLIT, "func(dst *byte, stride int, blocks, quant *[64]int16, last *uint8, n int) int")
	Pragma("noescape")
	Doc("idctRowPairedAVX2 is IDCTRowPaired of n blocks, n > 0, up to the first whose values exceed its range. It returns their number.")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	coef, quant := Load(Param("blocks"), GP64()), Load(Param("quant"), GP64())
	last, n := Load(Param("last"), GP64()), Load(Param("n"), GP64())
	left, triple, p := GP64(), GP64(), GP64()
	MOVQ(n, left)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, triple)
	var q [4]VecVirtual
	for i := range q {
		q[i] = YMM()
		VMOVDQU(Mem{Base: quant, Disp: 32 * i}, q[i])
	}
	zero := YMM()
	VPXOR(zero, zero, zero)

	// store writes four rows of 8 samples.
	store := func(p Register, r01, r23 VecVirtual) {
		VMOVQ(r01.AsX(), Mem{Base: p})
		VMOVHPS(r01.AsX(), Mem{Base: p, Index: stride, Scale: 1})
		VMOVQ(r23.AsX(), Mem{Base: p, Index: stride, Scale: 2})
		VMOVHPS(r23.AsX(), Mem{Base: p, Index: triple, Scale: 1})
	}

	Label("loop")
	CMPB(Mem{Base: last}, U8(0))
	JE(LabelRef("dc"))
	pair := func(i int) VecVirtual {
		x := YMM()
		VPMULLW(Mem{Base: coef, Disp: 32 * i}, q[i], x)
		return x
	}
	binary := func(f func(Op, Op, Op), a, b VecVirtual) VecVirtual {
		x := YMM()
		f(b, a, x)
		return x
	}
	plus := func(a, b VecVirtual) VecVirtual { return binary(func(b, a, x Op) { VPADDD(b, a, x) }, a, b) }
	pack := func(a, b VecVirtual) VecVirtual {
		VPACKSSDW(b, a, a)
		return a
	}
	pass := func(x04, x71, x26, x35 VecVirtual, shift uint64, round Mem) (out [8]VecVirtual) {
		t3, t2 := madd(x26, k.t3), madd(x26, k.t2)
		t0, t1 := madd(x04, t0), madd(x04, t1)
		if shift == 11 {
			VPADDD(round, t0, t0)
			VPADDD(round, t1, t1)
		}
		e0, e1 := plus(t0, t3), plus(t1, t2)
		VPSUBD(t3, t0, t0)
		VPSUBD(t2, t1, t1)
		z := YMM()
		VPADDW(x35, x71, z)
		y3, y4 := madd(z, k.y3), madd(z, k.y4)
		u0, u3 := madd(x71, k.u0), madd(x71, k.u3)
		u1, u2 := madd(x35, k.u1), madd(x35, k.u2)
		VPADDD(y3, u0, u0)
		VPADDD(y4, u3, u3)
		VPADDD(y4, u1, u1)
		VPADDD(y3, u2, u2)
		// both writes e+o and e-o, scaled down, to positions i and 7-i.
		both := func(i int, e, o VecVirtual) {
			sum := plus(e, o)
			VPSUBD(o, e, e)
			VPSRAD(U8(shift), sum, sum)
			VPSRAD(U8(shift), e, e)
			out[i], out[7-i] = sum, e
		}
		both(0, e0, u3)
		both(1, e1, u2)
		both(2, t1, u1)
		both(3, t0, u0)
		return out
	}
	x04 := pair(0)
	range0, range1 := YMM(), YMM()
	VPADDW(limits[0], x04, range0)
	o := pass(x04, pair(1), pair(2), pair(3), 11, round)

	// Transpose words of columns 0, 4, 7, 1 in the low lane and 2, 6, 3, 5 in
	// the high one.
	w02, w13, w46, w57 := pack(o[0], o[2]), pack(o[1], o[3]), pack(o[4], o[6]), pack(o[5], o[7])
	a03, b03 := zip(w02, w13, dl, dh)
	a47, b47 := zip(w46, w57, dl, dh)
	a, b := zip(a03, b03, ql, qh)
	c, d := zip(a47, b47, ql, qh)
	lanes := func(a, c VecVirtual) (VecVirtual, VecVirtual) {
		l := YMM()
		VINSERTI128(U8(1), c.AsX(), a, l)
		VPERM2I128(U8(0x31), c, a, a)
		return l, a
	}
	y04, y26 := lanes(a, c)
	y71, y35 := lanes(b, d)
	VPADDW(limits[1], y04, range1)
	VPOR(range1, range0, range0)
	VPTEST(beyond, range0)
	JNZ(LabelRef("out"))
	o = pass(y04, y71, y26, y35, 18, round)

	// A register has columns of bytes, rows 0 to 3 in the low lane.
	left4, right4 := pack(o[0], o[1]), pack(o[4], o[5])
	VPACKUSWB(pack(o[2], o[3]), left4, left4)
	VPACKUSWB(pack(o[6], o[7]), right4, right4)
	VPSHUFB(turn, left4, left4)
	VPSHUFB(turn, right4, right4)
	r01, r23 := zip(left4, right4, dl, dh)
	r45, r67 := YMM(), YMM()
	VEXTRACTI128(U8(1), r01, r45.AsX())
	VEXTRACTI128(U8(1), r23, r67.AsX())
	store(dst, r01, r23)
	LEAQ(Mem{Base: dst, Index: stride, Scale: 4}, p)
	store(p, r45, r67)

	Label("next")
	for i := range 4 {
		VMOVDQU(zero, Mem{Base: coef, Disp: 32 * i})
	}
	ADDQ(U32(128), coef)
	ADDQ(U8(8), dst)
	INCQ(last)
	DECQ(left)
	JNZ(LabelRef("loop"))
	Label("out")
	VZEROUPPER()
	SUBQ(left, n)
	Store(n, ReturnIndex(0))
	RET()

	Label("dc")
	dc := YMM()
	VMOVD(Mem{Base: coef}, dc.AsX())
	VPMULLW(q[0].AsX(), dc.AsX(), dc.AsX())
	VPSLLW(U8(2), dc.AsX(), dc.AsX())
	VPADDSW(sixteen, dc.AsX(), dc.AsX())
	VPSRAW(U8(5), dc.AsX(), dc.AsX())
	VPACKSSWB(dc.AsX(), dc.AsX(), dc.AsX())
	VPADDB(middle, dc.AsX(), dc.AsX())
	VPSHUFB(spread, dc.AsX(), dc.AsX())
	store(dst, dc, dc)
	LEAQ(Mem{Base: dst, Index: stride, Scale: 4}, p)
	store(p, dc, dc)
	JMP(LabelRef("next"))
}
