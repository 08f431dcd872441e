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
)

// Each lane of a YMM register holds a row of one of the two blocks.
func idct() {
	k := struct{ t3, t2, y3, y4, u0, u3, u1, u2 Mem }{
		words("idct_t3", f0541+f0765, f0541),
		words("idct_t2", f0541, f0541-f1847),
		words("idct_y3", f1175-f1961, f1175),
		words("idct_y4", f1175, f1175-f0390),
		words("idct_u0", f0298-f0899, -f0899),
		words("idct_u3", -f0899, f1501-f0899),
		words("idct_u1", f2053-f2562, -f2562),
		words("idct_u2", -f2562, f3072-f2562),
	}
	round1, round2 := dwords("idct_round1", 1<<10), dwords("idct_round2", 1<<17)
	middle := dwords("idct_middle", 0x80808080)

	TEXT("idctPairAVX2", NOSPLIT, "func(dst0 *byte, stride0 int, coef0, quant0 *[64]int16, dst1 *byte, stride1 int, coef1, quant1 *[64]int16)")
	Doc("idctPairAVX2 is IDCT of two blocks.")
	coef := [2]Register{Load(Param("coef0"), GP64()), Load(Param("coef1"), GP64())}
	quant := [2]Register{Load(Param("quant0"), GP64()), Load(Param("quant1"), GP64())}
	spill := AllocLocal(4 * 32)
	outs := AllocLocal(8 * 32)
	at := func(m Mem, i int) Mem { return m.Offset(32 * i) }

	row := func(p [2]Register, r int) VecVirtual {
		x := YMM()
		VMOVDQU(Mem{Base: p[0], Disp: 16 * r}, x.AsX())
		VINSERTI128(U8(1), Mem{Base: p[1], Disp: 16 * r}, x, x)
		return x
	}
	var in [8]VecVirtual
	any := YMM()
	for r := range 8 {
		in[r] = row(coef, r)
		switch r {
		case 0:
		case 1:
			VMOVDQA(in[1], any)
		default:
			VPOR(in[r], any, any)
		}
		VPMULLW(row(quant, r), in[r], in[r])
	}
	// Bytes of ones in the lane of a block that has nothing but its first row:
	// the reference shifts that within 16 bits.
	zero := YMM()
	VPXOR(zero, zero, zero)
	flat := YMM()
	VPCMPEQQ(zero, any, flat)
	VPSHUFD(U8(0x4E), flat, any)
	VPAND(any, flat, flat)
	first := AllocLocal(32)
	flatAt := AllocLocal(32)
	VPSLLW(U8(2), in[0], any)
	VMOVDQU(any, first)
	VMOVDQU(flat, flatAt)

	pass := func(in [8]VecVirtual, round Mem, shift uint64) (out [8]VecVirtual) {
		sum, dif := YMM(), YMM()
		VPADDW(in[4], in[0], sum)
		VPSUBW(in[4], in[0], dif)
		z3, z4 := YMM(), YMM()
		VPADDW(in[3], in[7], z3)
		VPADDW(in[1], in[5], z4)
		VMOVDQU(in[6], at(spill, 0))
		VMOVDQU(in[1], at(spill, 1))
		VMOVDQU(in[3], at(spill, 2))
		VMOVDQU(z4, at(spill, 3))
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
			wide := func(a VecVirtual) VecVirtual {
				z := YMM()
				VPXOR(z, z, z)
				x := unpack(a, z)
				VPSRAD(U8(3), x, x)
				VPADDD(round, x, x)
				return x
			}
			madd := func(a VecVirtual, m Mem) VecVirtual {
				x := YMM()
				VPMADDWD(m, a, x)
				return x
			}
			// both gives e+o and e-o, scaled down, to places i and 7-i.
			both := func(i int, e, o VecVirtual) {
				s := YMM()
				VPADDD(o, e, s)
				VPSUBD(o, e, e)
				for _, p := range []struct {
					i int
					v VecVirtual
				}{{i, s}, {7 - i, e}} {
					VPSRAD(U8(shift), p.v, p.v)
					if half == 0 {
						VMOVDQU(p.v, at(outs, p.i))
					} else {
						VPACKSSDW(at(outs, p.i), p.v, p.v)
						out[p.i] = p.v
					}
				}
			}
			z := unpack(at(spill, 3), z3)
			y3 := madd(z, k.y3)
			y4 := madd(z, k.y4)
			p := unpack(at(spill, 0), in[2])
			t3 := madd(p, k.t3)
			t0 := wide(sum)
			e0, e3 := YMM(), t0
			VPADDD(t3, t0, e0)
			VPSUBD(t3, t0, e3)
			r := unpack(at(spill, 1), in[7])
			u0 := madd(r, k.u0)
			VPADDD(y3, u0, u0)
			both(3, e3, u0)
			u3 := madd(r, k.u3)
			VPADDD(y4, u3, u3)
			both(0, e0, u3)
			t2 := madd(p, k.t2)
			t1 := wide(dif)
			e1, e2 := YMM(), t1
			VPADDD(t2, t1, e1)
			VPSUBD(t2, t1, e2)
			q := unpack(at(spill, 2), in[5])
			u1 := madd(q, k.u1)
			VPADDD(y4, u1, u1)
			both(2, e2, u1)
			u2 := madd(q, k.u2)
			VPADDD(y3, u2, u2)
			both(1, e1, u2)
		}
		return out
	}
	w := pass(in, round1, 11)

	flat, any = YMM(), YMM()
	VMOVDQU(flatAt, flat)
	VPTEST(flat, flat)
	JZ(LabelRef("transpose"))
	VMOVDQU(first, any)
	for i := range w {
		VPBLENDVB(flat, any, w[i], w[i])
	}
	Label("transpose")
	// In each lane, row i of columns 0 to 7 to column i of rows 0 to 7.
	type two func(Op, Op, Op)
	zip := func(a, b VecVirtual, lo, hi two) (VecVirtual, VecVirtual) {
		l := YMM()
		lo(b, a, l)
		hi(b, a, a)
		return l, a
	}
	wl := func(a, b, c Op) { VPUNPCKLWD(a, b, c) }
	wh := func(a, b, c Op) { VPUNPCKHWD(a, b, c) }
	dl := func(a, b, c Op) { VPUNPCKLDQ(a, b, c) }
	dh := func(a, b, c Op) { VPUNPCKHDQ(a, b, c) }
	ql := func(a, b, c Op) { VPUNPCKLQDQ(a, b, c) }
	qh := func(a, b, c Op) { VPUNPCKHQDQ(a, b, c) }
	bl := func(a, b, c Op) { VPUNPCKLBW(a, b, c) }
	bh := func(a, b, c Op) { VPUNPCKHBW(a, b, c) }
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

	x := pass(col, round2, 18)
	m := YMM()
	VMOVDQU(middle, m)
	for i := range 4 {
		VPACKSSWB(x[i+4], x[i], x[i])
		VPADDB(m, x[i], x[i])
	}
	// Columns x and x+4 of 8 rows of bytes each: to rows.
	x02, x46 := zip(x[0], x[2], bl, bh)
	x13, x57 := zip(x[1], x[3], bl, bh)
	y0, y4 := zip(x02, x13, bl, bh)
	z0, z4 := zip(x46, x57, bl, bh)
	var rows [4]VecVirtual
	rows[0], rows[1] = zip(y0, z0, dl, dh)
	rows[2], rows[3] = zip(y4, z4, dl, dh)
	for b := range 2 {
		dst, stride := Load(Param([]string{"dst0", "dst1"}[b]), GP64()), Load(Param([]string{"stride0", "stride1"}[b]), GP64())
		for i := range rows {
			v := rows[i].AsX()
			if b == 1 {
				v = XMM()
				VEXTRACTI128(U8(1), rows[i], v)
			}
			VMOVQ(v, Mem{Base: dst})
			VMOVHPS(v, Mem{Base: dst, Index: stride, Scale: 1})
			if i < 3 {
				LEAQ(Mem{Base: dst, Index: stride, Scale: 2}, dst)
			}
		}
	}
	VZEROUPPER()
	RET()
}
