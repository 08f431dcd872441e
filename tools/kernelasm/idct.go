package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The constants of idct.go.
const (
	f0298, f0390, f0541, f0765, f0899, f1175 = 2446, 3196, 4433, 6270, 7373, 9633
	f1501, f1847, f1961, f2053, f2562, f3072 = 12299, 15137, 16069, 16819, 20995, 25172

	one = 1 << 13
	// sparse is the last zigzag index up to which all coefficients are in the
	// first four rows and columns. Index 10 starts row 4.
	sparse = 9
)

// madd returns the sums of the products of adjacent words.
func madd(a VecVirtual, m Mem) VecVirtual {
	x := YMM()
	VPMADDWD(m, a, x)
	return x
}

// zip interleaves a and b and overwrites a.
func zip(a, b VecVirtual, lo, hi func(Op, Op, Op)) (VecVirtual, VecVirtual) {
	l := YMM()
	lo(b, a, l)
	hi(b, a, a)
	return l, a
}

func wl(a, b, c Op) { VPUNPCKLWD(a, b, c) }
func wh(a, b, c Op) { VPUNPCKHWD(a, b, c) }
func dl(a, b, c Op) { VPUNPCKLDQ(a, b, c) }
func dh(a, b, c Op) { VPUNPCKHDQ(a, b, c) }
func ql(a, b, c Op) { VPUNPCKLQDQ(a, b, c) }
func qh(a, b, c Op) { VPUNPCKHQDQ(a, b, c) }
func bl(a, b, c Op) { VPUNPCKLBW(a, b, c) }
func bh(a, b, c Op) { VPUNPCKHBW(a, b, c) }

// rowLoop iterates over a row of blocks in pairs. The last pair of an odd
// number overlaps the previous pair. A single block is both blocks of its pair.
type rowLoop struct {
	dst, stride, coef, second, quant Register
	last, secondLast, n, single      Register
}

// idctLoop starts a row function.
func idctLoop(name, doc string) *rowLoop {
	TEXT(name, NOSPLIT, "func(dst *byte, stride int, blocks, quant *[64]int16, last *uint8, n int)")
	Pragma("noescape")
	Doc(doc)
	l := &rowLoop{dst: Load(Param("dst"), GP64()), stride: Load(Param("stride"), GP64()),
		coef: Load(Param("blocks"), GP64()), quant: Load(Param("quant"), GP64()),
		last: Load(Param("last"), GP64()), n: Load(Param("n"), GP64()),
		second: GP64(), secondLast: GP64(), single: GP64()}
	XORQ(l.single, l.single)
	CMPQ(l.n, U8(1))
	SETEQ(l.single.(GPVirtual).As8())
	MOVQ(U32(1), l.secondLast)
	SUBQ(l.single, l.secondLast)
	MOVQ(l.secondLast, l.second)
	SHLQ(U8(7), l.second)
	return l
}

// end advances to the next pair. width is the width of an output block in
// samples.
func (l *rowLoop) end(width int) {
	Label("next")
	ADDQ(U32(2*128), l.coef)
	ADDQ(U8(2*width), l.dst)
	ADDQ(U8(2), l.last)
	SUBQ(U8(2), l.n)
	JLE(LabelRef("done"))
	CMPQ(l.n, U8(1))
	JNE(LabelRef("loop"))
	SUBQ(U32(128), l.coef)
	SUBQ(U8(width), l.dst)
	DECQ(l.last)
	INCQ(l.n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// row returns row r of the coefficients of two blocks, one block per lane.
func (l *rowLoop) row(r int) VecVirtual {
	x := YMM()
	VBROADCASTI128(Mem{Base: l.coef, Disp: 16 * r}, x) // all of x, so that avo sees where its live range starts
	VINSERTI128(U8(1), Mem{Base: l.coef, Index: l.second, Scale: 1, Disp: 16 * r}, x, x)
	return x
}

// scaled returns row r, dequantized.
func (l *rowLoop) scaled(r int) VecVirtual {
	x, q := l.row(r), YMM()
	VBROADCASTI128(Mem{Base: l.quant, Disp: 16 * r}, q)
	VPMULLW(q, x, x)
	return x
}

// store writes 8 rows of 16 samples, or of 8 samples for a single block. v[i]
// holds rows 2i and 2i+1, one block per lane.
func (l *rowLoop) store(v [4]VecVirtual) {
	narrow, next := label("narrow"), LabelRef("next")
	p := GP64()
	MOVQ(l.dst, p)
	TESTQ(l.single, l.single)
	JNZ(LabelRef(narrow))
	for i, x := range v {
		VPERMQ(U8(0xD8), x, x)
		VMOVDQU(x.AsX(), Mem{Base: p})
		VEXTRACTI128(U8(1), x, Mem{Base: p, Index: l.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	JMP(next)
	Label(narrow)
	for i, x := range v {
		VMOVQ(x.AsX(), Mem{Base: p})
		VMOVHPS(x.AsX(), Mem{Base: p, Index: l.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	JMP(next)
}

// overflows sets the flag NE if shifting row 0 by 2 loses bits.
func overflows(row0 VecVirtual) {
	t := YMM()
	VPSLLW(U8(2), row0, t)
	VPSRAW(U8(2), t, t)
	VPXOR(row0, t, t)
	VPTEST(t, t)
}

// factors holds the constants of a pass.
type factors struct{ t3, t2, y3, y4, u0, u3, u1, u2 Mem }

// rounding holds the constants that round a pass. The rounding is the product
// of a word beside the sum.
type rounding struct {
	word, factors, whole Mem
	shift                uint64
}

var _ = add("jpeg", idct)

// idct writes the row functions.
func idct() {
	k := factors{
		words("idct_t3", f0541+f0765, f0541),
		words("idct_t2", f0541, f0541-f1847),
		words("idct_y3", f1175-f1961, f1175),
		words("idct_y4", f1175, f1175-f0390),
		words("idct_u0", f0298-f0899, -f0899),
		words("idct_u3", -f0899, f1501-f0899),
		words("idct_u1", -f2562, f2053-f2562),
		words("idct_u2", f3072-f2562, -f2562),
	}
	// The same for two nonzero values each.
	s := struct{ e, u [4]Mem }{
		[4]Mem{words("idct_s_e0", one, f0541+f0765), words("idct_s_e1", one, f0541),
			words("idct_s_e2", one, -f0541), words("idct_s_e3", one, -f0541-f0765)},
		[4]Mem{words("idct_s_u0", f1175-f0899, f1175-f1961), words("idct_s_u1", f1175-f0390, f1175-f2562),
			words("idct_s_u2", f1175, f3072-f2562+f1175-f1961), words("idct_s_u3", f1501-f0899+f1175-f0390, f1175)},
	}
	// The first pass rounds 11 bits, the second 18.
	rounds := [2]rounding{
		{words("idct_r1", 1<<10, 1<<10), words("idct_f1", one, 1), dwords("idct_round1", 1<<10), 11},
		{words("idct_r2", 1<<14, 1<<14), words("idct_f2", one, 1<<3), dwords("idct_round2", 1<<17), 18},
	}
	middle := dwords("idct_middle", 0x80808080)
	sixteen := words("idct_16", 16, 16)
	spread := shuffled("idct_spread", 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)

	idctRow(false, k, s.e, s.u, rounds, middle, sixteen, spread)
	idctRow(true, k, s.e, s.u, rounds, middle, sixteen, spread)
}

// idctRow writes a row function. Each lane of a register holds a row of one of
// two blocks. With quads it holds a row of one of four blocks, unless one of
// them is sparse.
func idctRow(quads bool, k factors, se, su [4]Mem, rounds [2]rounding, middle, sixteen, spread Mem) {
	name := "idctRowAVX2"
	if quads {
		name = "idctRowAVX512"
	}
	l := idctLoop(name, name+" is IDCTRow of n blocks, n > 0.")
	spill := AllocLocal(4 * 32)
	outs := AllocLocal(8 * 32)
	at := func(m Mem, i int) Mem { return m.Offset(32 * i) }
	flag := GP64()

	Label("loop")
	a, b := GP32(), GP32()
	MOVBLZX(Mem{Base: l.last}, a)
	MOVBLZX(Mem{Base: l.last, Index: l.secondLast, Scale: 1}, b)
	any := GP32()
	MOVL(a, any)
	ORL(b, any)
	JZ(LabelRef("dc"))
	CMPL(a, U8(sparse))
	JA(LabelRef("full"))
	CMPL(b, U8(sparse))
	JA(LabelRef("full"))

	// finish converts columns of words to rows of samples.
	finish := func(x [8]VecVirtual) {
		m := YMM()
		VMOVDQU(middle, m)
		for i := range 4 {
			VPACKSSWB(x[i+4], x[i], x[i])
			VPADDB(m, x[i], x[i])
		}
		// Transpose the columns x and x+4 of 8 rows of bytes.
		x02, x46 := zip(x[0], x[2], bl, bh)
		x13, x57 := zip(x[1], x[3], bl, bh)
		y0, y4 := zip(x02, x13, bl, bh)
		z0, z4 := zip(x46, x57, bl, bh)
		var rows [4]VecVirtual
		rows[0], rows[1] = zip(y0, z0, dl, dh)
		rows[2], rows[3] = zip(y4, z4, dl, dh)
		l.store(rows)
	}

	// This path handles four rows and four columns. If shifting the first row
	// wraps around, the full transform handles the block.
	r0 := l.scaled(0)
	overflows(r0)
	JNZ(LabelRef("full"))
	r1, r2, r3 := l.scaled(1), l.scaled(2), l.scaled(3)
	// Columns 0, 2, 1, 3.
	p02, p13 := YMM(), YMM()
	VPUNPCKLWD(r2, r0, p02)
	VPUNPCKLWD(r3, r1, p13)
	VPSHUFD(U8(0xD8), p02, p02)
	VPSHUFD(U8(0xD8), p13, p13)
	half := func(i int, even, odd VecVirtual, r rounding) (VecVirtual, VecVirtual) {
		e, u := madd(even, se[i]), madd(odd, su[3-i])
		VPADDD(r.whole, e, e)
		sum := YMM()
		VPADDD(u, e, sum)
		VPSUBD(u, e, e)
		VPSRAD(U8(r.shift), sum, sum)
		VPSRAD(U8(r.shift), e, e)
		return sum, e
	}
	var o [8]VecVirtual
	for i := range 4 {
		o[i], o[7-i] = half(i, p02, p13, rounds[0])
	}
	for i := range 4 {
		VPACKSSDW(o[i+4], o[i], o[i])
	}
	// o[i] holds rows i and i+4 of pairs 02 and 13.
	a0, a4 := zip(o[0], o[1], dl, dh)
	a2, a6 := zip(o[2], o[3], dl, dh)
	evenLo, oddLo := zip(a0, a2, ql, qh)
	evenHi, oddHi := zip(a4, a6, ql, qh)
	for i := range 4 {
		sl, dfl := half(i, evenLo, oddLo, rounds[1])
		sh, dfh := half(i, evenHi, oddHi, rounds[1])
		VPACKSSDW(sh, sl, sl)
		VPACKSSDW(dfh, dfl, dfl)
		o[i], o[7-i] = sl, dfl
	}
	finish(o)

	Label("full")
	if quads {
		CMPQ(l.n, U8(4))
		JLT(LabelRef("two"))
		MOVBLZX(Mem{Base: l.last, Disp: 2}, a)
		MOVBLZX(Mem{Base: l.last, Disp: 3}, b)
		CMPL(a, U8(sparse))
		JA(LabelRef("four"))
		CMPL(b, U8(sparse))
		JA(LabelRef("four"))
	}
	Label("two")
	var in [8]VecVirtual
	for r := range 8 {
		in[r] = l.scaled(r)
		if r == 0 {
			overflows(in[0])
			SETNE(flag.As8())
		}
	}
	pass := func(in [8]VecVirtual, round rounding) (out [8]VecVirtual) {
		sum, dif := YMM(), YMM()
		VPADDW(in[4], in[0], sum)
		VPSUBW(in[4], in[0], dif)
		VMOVDQU(in[6], at(spill, 0))
		VMOVDQU(in[1], at(spill, 1))
		VMOVDQU(in[5], at(spill, 2))
		for half := range 2 {
			unpack := func(b Op, a Op) VecVirtual {
				x := YMM()
				if half == 0 {
					VPUNPCKHWD(b, a, x)
				} else {
					VPUNPCKLWD(b, a, x)
				}
				return x
			}
			// both writes e+o and e-o, scaled down, to positions i and 7-i.
			both := func(i int, e, o VecVirtual) {
				s := YMM()
				VPADDD(o, e, s)
				VPSUBD(o, e, e)
				for _, p := range []struct {
					i int
					v VecVirtual
				}{{i, s}, {7 - i, e}} {
					VPSRAD(U8(round.shift), p.v, p.v)
					if half == 0 {
						VMOVDQU(p.v, at(outs, p.i))
					} else {
						VPACKSSDW(at(outs, p.i), p.v, p.v)
						out[p.i] = p.v
					}
				}
			}
			r := unpack(at(spill, 1), in[7])
			q := unpack(at(spill, 2), in[3])
			z := YMM()
			VPADDW(q, r, z)
			y3 := madd(z, k.y3)
			y4 := madd(z, k.y4)
			p := unpack(at(spill, 0), in[2])
			t3 := madd(p, k.t3)
			t0 := unpack(round.word, sum)
			VPMADDWD(round.factors, t0, t0)
			e0, e3 := YMM(), t0
			VPADDD(t3, t0, e0)
			VPSUBD(t3, t0, e3)
			u0 := madd(r, k.u0)
			VPADDD(y3, u0, u0)
			both(3, e3, u0)
			u3 := madd(r, k.u3)
			VPADDD(y4, u3, u3)
			both(0, e0, u3)
			t2 := madd(p, k.t2)
			t1 := unpack(round.word, dif)
			VPMADDWD(round.factors, t1, t1)
			e1, e2 := YMM(), t1
			VPADDD(t2, t1, e1)
			VPSUBD(t2, t1, e2)
			u1 := madd(q, k.u1)
			VPADDD(y4, u1, u1)
			both(2, e2, u1)
			u2 := madd(q, k.u2)
			VPADDD(y3, u2, u2)
			both(1, e1, u2)
		}
		return out
	}
	w := pass(in, rounds[0])
	TESTB(flag.As8(), flag.As8())
	JNZ(LabelRef("wrap"))
	Label("transpose")
	// In each lane, transpose row i of columns 0 to 7 to column i of rows 0 to
	// 7.
	a01l, a01h := zip(w[0], w[1], wl, wh)
	a23l, a23h := zip(w[2], w[3], wl, wh)
	a45l, a45h := zip(w[4], w[5], wl, wh)
	a67l, a67h := zip(w[6], w[7], wl, wh)
	b01, b23 := zip(a01l, a23l, dl, dh)
	b45, b67 := zip(a01h, a23h, dl, dh)
	c01, c23 := zip(a45l, a67l, dl, dh)
	c45, c67 := zip(a45h, a67h, dl, dh)
	var col [8]VecVirtual
	col[0], col[1] = zip(b01, c01, ql, qh)
	col[2], col[3] = zip(b23, c23, ql, qh)
	col[4], col[5] = zip(b45, c45, ql, qh)
	col[6], col[7] = zip(b67, c67, ql, qh)
	finish(pass(col, rounds[1]))

	// A block with only its first row shifts that within 16 bits.
	Label("wrap")
	or, zero, first := l.row(1), YMM(), l.scaled(0)
	for r := 2; r < 8; r++ {
		VPOR(l.row(r), or, or)
	}
	VPXOR(zero, zero, zero)
	VPCMPEQQ(zero, or, or)
	VPSHUFD(U8(0x4E), or, zero)
	VPAND(zero, or, or)
	VPSLLW(U8(2), first, first)
	for i := range w {
		VPBLENDVB(or, first, w[i], w[i])
	}
	JMP(LabelRef("transpose"))

	if quads {
		Label("four")
		l.quad(k, rounds, middle)
	}

	Label("dc")
	dc := l.dc()
	VPSLLW(U8(2), dc, dc)
	VPADDSW(sixteen, dc, dc)
	VPSRAW(U8(5), dc, dc)
	VPACKSSWB(dc, dc, dc)
	VPADDB(middle, dc, dc)
	VPSHUFB(spread, dc, dc)
	p := GP64()
	MOVQ(l.dst, p)
	TESTQ(l.single, l.single)
	JNZ(LabelRef("narrowDC"))
	for i := range 4 {
		VMOVDQU(dc, Mem{Base: p})
		VMOVDQU(dc, Mem{Base: p, Index: l.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	JMP(LabelRef("next"))
	Label("narrowDC")
	for i := range 4 {
		VMOVQ(dc, Mem{Base: p})
		VMOVQ(dc, Mem{Base: p, Index: l.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	l.end(8)
}

// zips is zip for four blocks.
func zips(a, b VecVirtual, lo, hi func(...Op)) (VecVirtual, VecVirtual) {
	l := ZMM()
	lo(b, a, l)
	hi(b, a, a)
	return l, a
}

// quad transforms four blocks. If shifting a first row wraps around, it jumps
// to label two.
func (l *rowLoop) quad(k factors, rounds [2]rounding, middle Mem) {
	all := func(m Mem) VecVirtual {
		z := ZMM()
		VPBROADCASTD(m, z)
		return z
	}
	var in [8]VecVirtual
	for r := range in {
		a, b, z, q := YMM(), YMM(), ZMM(), ZMM()
		at := func(block int) Mem { return Mem{Base: l.coef, Disp: 128*block + 16*r} }
		VBROADCASTI32X4(at(0), a)
		VINSERTI32X4(U8(1), at(1), a, a)
		VBROADCASTI32X4(at(2), b)
		VINSERTI32X4(U8(1), at(3), b, b)
		VINSERTI64X4(U8(1), b, a.AsZ(), z)
		VBROADCASTI32X4(Mem{Base: l.quant, Disp: 16 * r}, q)
		VPMULLW(q, z, z)
		in[r] = z
		if r == 0 {
			t, lost := ZMM(), K()
			VPSLLW(U8(2), z, t)
			VPSRAW(U8(2), t, t)
			VPCMPW(U8(4), z, t, lost)
			KORTESTD(lost, lost)
			JNZ(LabelRef("two"))
		}
	}
	z := struct{ t3, t2, y3, y4, u0, u3, u1, u2 VecVirtual }{
		all(k.t3), all(k.t2), all(k.y3), all(k.y4), all(k.u0), all(k.u3), all(k.u1), all(k.u2)}
	pass := func(in [8]VecVirtual, round rounding) (out [8]VecVirtual) {
		sum, dif := ZMM(), ZMM()
		VPADDW(in[4], in[0], sum)
		VPSUBW(in[4], in[0], dif)
		for half, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
			pair := func(a, b VecVirtual) VecVirtual {
				x := ZMM()
				unpack(b, a, x)
				return x
			}
			madd := func(a, m VecVirtual) VecVirtual {
				x := ZMM()
				VPMADDWD(m, a, x)
				return x
			}
			// both writes e+o and e-o, scaled down, to positions i and 7-i.
			both := func(i int, e, o VecVirtual) {
				s := ZMM()
				VPADDD(o, e, s)
				VPSUBD(o, e, e)
				for p, v := range [2]VecVirtual{s, e} {
					VPSRAD(U8(round.shift), v, v)
					to := &out[i]
					if p == 1 {
						to = &out[7-i]
					}
					if half == 0 {
						*to = v
					} else {
						VPACKSSDW(v, *to, *to)
					}
				}
			}
			r, q, y := pair(in[7], in[1]), pair(in[3], in[5]), ZMM()
			VPADDW(q, r, y)
			y3, y4 := madd(y, z.y3), madd(y, z.y4)
			p := pair(in[2], in[6])
			t3, t0 := madd(p, z.t3), madd(pair(sum, all(round.word)), all(round.factors))
			e0 := ZMM()
			VPADDD(t3, t0, e0)
			VPSUBD(t3, t0, t0)
			u0, u3 := madd(r, z.u0), madd(r, z.u3)
			VPADDD(y3, u0, u0)
			both(3, t0, u0)
			VPADDD(y4, u3, u3)
			both(0, e0, u3)
			t2, t1 := madd(p, z.t2), madd(pair(dif, all(round.word)), all(round.factors))
			e1 := ZMM()
			VPADDD(t2, t1, e1)
			VPSUBD(t2, t1, t1)
			u1, u2 := madd(q, z.u1), madd(q, z.u2)
			VPADDD(y4, u1, u1)
			both(2, t1, u1)
			VPADDD(y3, u2, u2)
			both(1, e1, u2)
		}
		return out
	}
	w := pass(in, rounds[0])
	a01l, a01h := zips(w[0], w[1], VPUNPCKLWD, VPUNPCKHWD)
	a23l, a23h := zips(w[2], w[3], VPUNPCKLWD, VPUNPCKHWD)
	a45l, a45h := zips(w[4], w[5], VPUNPCKLWD, VPUNPCKHWD)
	a67l, a67h := zips(w[6], w[7], VPUNPCKLWD, VPUNPCKHWD)
	b01, b23 := zips(a01l, a23l, VPUNPCKLDQ, VPUNPCKHDQ)
	b45, b67 := zips(a01h, a23h, VPUNPCKLDQ, VPUNPCKHDQ)
	c01, c23 := zips(a45l, a67l, VPUNPCKLDQ, VPUNPCKHDQ)
	c45, c67 := zips(a45h, a67h, VPUNPCKLDQ, VPUNPCKHDQ)
	var col [8]VecVirtual
	col[0], col[1] = zips(b01, c01, VPUNPCKLQDQ, VPUNPCKHQDQ)
	col[2], col[3] = zips(b23, c23, VPUNPCKLQDQ, VPUNPCKHQDQ)
	col[4], col[5] = zips(b45, c45, VPUNPCKLQDQ, VPUNPCKHQDQ)
	col[6], col[7] = zips(b67, c67, VPUNPCKLQDQ, VPUNPCKHQDQ)
	x := pass(col, rounds[1])
	m := all(middle)
	for i := range 4 {
		VPACKSSWB(x[i+4], x[i], x[i])
		VPADDB(m, x[i], x[i])
	}
	x02, x46 := zips(x[0], x[2], VPUNPCKLBW, VPUNPCKHBW)
	x13, x57 := zips(x[1], x[3], VPUNPCKLBW, VPUNPCKHBW)
	y0, y4 := zips(x02, x13, VPUNPCKLBW, VPUNPCKHBW)
	z0, z4 := zips(x46, x57, VPUNPCKLBW, VPUNPCKHBW)
	var rows [4]VecVirtual
	rows[0], rows[1] = zips(y0, z0, VPUNPCKLDQ, VPUNPCKHDQ)
	rows[2], rows[3] = zips(y4, z4, VPUNPCKLDQ, VPUNPCKHDQ)
	order := GLOBL("idct_order", 8|16)
	for i, v := range []int{0, 2, 4, 6, 1, 3, 5, 7} {
		DATA(8*i, U64(v))
	}
	perm, p := ZMM(), GP64()
	VMOVDQU64(order, perm)
	MOVQ(l.dst, p)
	for i, v := range rows {
		VPERMQ(v, perm, v)
		VMOVDQU32(v.AsY(), Mem{Base: p})
		VEXTRACTI64X4(U8(1), v, Mem{Base: p, Index: l.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: p, Index: l.stride, Scale: 2}, p)
		}
	}
	// The loop then continues with the other two blocks.
	ADDQ(U32(2*128), l.coef)
	ADDQ(U8(16), l.dst)
	ADDQ(U8(2), l.last)
	SUBQ(U8(2), l.n)
	JMP(LabelRef("next"))
}
