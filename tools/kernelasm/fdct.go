package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("encode", fdct)

// The offsets of the tables in kernel.Divisors; a test compares them.
const divisorsAdd, divisorsRecip, divisorsScale = 0, 128, 256

// fdct writes FDCTRow. Each lane of a register holds a row of one of two
// blocks.
func fdct() {
	// The factors of pairs of words.
	k := struct{ e2, e6, y3, y4, o7, o1, o5, o3 Mem }{
		words("fdct_e2", f0541+f0765, f0541),  // t3, t2
		words("fdct_e6", f0541, f0541-f1847),  // t3, t2
		words("fdct_y3", f1175-f1961, f1175),  // d3+d1, d2+d0
		words("fdct_y4", f1175, f1175-f0390),  // d3+d1, d2+d0
		words("fdct_o7", f0298-f0899, -f0899), // d3, d0
		words("fdct_o1", -f0899, f1501-f0899), // d3, d0
		words("fdct_o5", f2053-f2562, -f2562), // d2, d1
		words("fdct_o3", -f2562, f3072-f2562), // d2, d1
	}
	center := words("fdct_center", 8*128, 8*128)
	two := words("fdct_2", 2, 2)
	rounds := [2]Mem{dwords("fdct_round1", 1<<10), dwords("fdct_round2", 1<<14)}
	// zigzag moves coefficients from rows 2r and 2r+1 to 16 positions of the
	// zigzag order.
	var natural [64]int
	i := 0
	for d := range 15 {
		for j := max(0, d-7); j <= min(d, 7); j++ {
			y := j
			if d%2 == 0 {
				y = d - j
			}
			natural[i] = 8*y + d - y
			i++
		}
	}
	zigzag := GLOBL("fdct_zigzag", 8|16)
	var used [4][4]bool // by part and rows
	for part := range 4 {
		for rows := range 4 {
			for i := range 32 {
				v := natural[16*part+i%16]
				if v/16 == rows {
					used[part][rows] = true
					v %= 16
				} else {
					v = 0x80
				}
				DATA(32*(4*part+rows)+i, U8(v))
			}
		}
	}

	function("fdctRowSIMD", "func(blocks *[64]int16, masks *uint64, src *byte, stride int, d *byte, n int)")
	Doc("fdctRowSIMD runs FDCTRow on n blocks, n > 1. d points to a Divisors.")
	blocks, masks := Load(Param("blocks"), GP64()), Load(Param("masks"), GP64())
	src, stride := Load(Param("src"), GP64()), Load(Param("stride"), GP64())
	d, n := Load(Param("d"), GP64()), Load(Param("n"), GP64())
	spill := AllocLocal(8 * 32)
	at := func(i int) Mem { return spill.Offset(32 * i) }

	// pass transforms rows of words. It calls out for each result; the order
	// is 0, 4, 2, 6, 7, 1, 5, 3.
	pass := func(in [8]VecVirtual, second bool, out func(i int, v VecVirtual)) {
		shift, round := U8(11), rounds[0]
		if second {
			shift, round = U8(15), rounds[1]
		}
		var s, d [4]VecVirtual
		for i := range 4 {
			s[i], d[i] = YMM(), in[i]
			VPADDW(in[7-i], in[i], s[i])
			VPSUBW(in[7-i], in[i], d[i])
		}
		sum := func(a, b VecVirtual) VecVirtual { v := YMM(); VPADDW(b, a, v); return v }
		dif := func(a, b VecVirtual) VecVirtual { v := YMM(); VPSUBW(b, a, v); return v }
		t0, t3 := sum(s[0], s[3]), dif(s[0], s[3])
		t1, t2 := sum(s[1], s[2]), dif(s[1], s[2])
		o0, o4 := sum(t0, t1), dif(t0, t1)
		if second {
			VPADDW(two, o0, o0)
			VPADDW(two, o4, o4)
			VPSRAW(U8(2), o0, o0)
			VPSRAW(U8(2), o4, o4)
		} else {
			VPSUBW(center, o0, o0)
			VPSLLW(U8(2), o0, o0)
			VPSLLW(U8(2), o4, o4)
		}
		out(0, o0)
		out(4, o4)
		descale := func(v VecVirtual) { VPSRAD(shift, v, v) }
		l, h := zip(t3, t2, wl, wh)
		for _, e := range []struct {
			i int
			m Mem
		}{{2, k.e2}, {6, k.e6}} {
			a, b := madd(l, e.m), madd(h, e.m)
			VPADDD(round, a, a)
			VPADDD(round, b, b)
			descale(a)
			descale(b)
			VPACKSSDW(b, a, a)
			out(e.i, a)
		}
		z3, z4 := sum(d[3], d[1]), sum(d[2], d[0])
		zl, zh := zip(z3, z4, wl, wh)
		al, ah := zip(d[3], d[0], wl, wh)
		bl, bh := zip(d[2], d[1], wl, wh)
		ys := func(m Mem) (l, h VecVirtual) {
			l, h = madd(zl, m), madd(zh, m)
			VPADDD(round, l, l)
			VPADDD(round, h, h)
			return l, h
		}
		y3l, y3h := ys(k.y3)
		y4l, y4h := ys(k.y4)
		for _, o := range []struct {
			i            int
			m            Mem
			l, h, yl, yh VecVirtual
		}{{7, k.o7, al, ah, y3l, y3h}, {1, k.o1, al, ah, y4l, y4h}, {5, k.o5, bl, bh, y4l, y4h}, {3, k.o3, bl, bh, y3l, y3h}} {
			a, b := madd(o.l, o.m), madd(o.h, o.m)
			VPADDD(o.yl, a, a)
			VPADDD(o.yh, b, b)
			descale(a)
			descale(b)
			VPACKSSDW(b, a, a)
			out(o.i, a)
		}
	}
	// transpose transposes 8 rows of 8 words in each lane.
	transpose := func(w [8]VecVirtual) (col [8]VecVirtual) {
		a01l, a01h := zip(w[0], w[1], wl, wh)
		a23l, a23h := zip(w[2], w[3], wl, wh)
		a45l, a45h := zip(w[4], w[5], wl, wh)
		a67l, a67h := zip(w[6], w[7], wl, wh)
		b01, b23 := zip(a01l, a23l, dl, dh)
		b45, b67 := zip(a01h, a23h, dl, dh)
		c01, c23 := zip(a45l, a67l, dl, dh)
		c45, c67 := zip(a45h, a67h, dl, dh)
		col[0], col[1] = zip(b01, c01, ql, qh)
		col[2], col[3] = zip(b23, c23, ql, qh)
		col[4], col[5] = zip(b45, c45, ql, qh)
		col[6], col[7] = zip(b67, c67, ql, qh)
		return col
	}

	Label("loop")
	var in [8]VecVirtual
	p := GP64()
	MOVQ(src, p)
	for r := range 8 {
		in[r] = YMM()
		switch r % 2 {
		case 0:
			VPMOVZXBW(Mem{Base: p}, in[r])
		case 1:
			VPMOVZXBW(Mem{Base: p, Index: stride, Scale: 1}, in[r])
			if r < 7 {
				LEAQ(Mem{Base: p, Index: stride, Scale: 2}, p)
			}
		}
	}
	var w [8]VecVirtual
	pass(transpose(in), false, func(i int, v VecVirtual) {
		if i%2 == 0 {
			VMOVDQU(v, at(i))
			return
		}
		w[i] = v
	})
	for i := range 8 {
		if i%2 == 0 {
			w[i] = YMM()
			VMOVDQU(at(i), w[i])
		}
	}
	var last VecVirtual // row 3
	pass(transpose(w), true, func(i int, v VecVirtual) {
		// Quantize row i.
		t, u := YMM(), YMM()
		table := func(from int) VecVirtual {
			VBROADCASTI128(Mem{Base: d, Disp: from + 16*i}, u)
			return u
		}
		VPABSW(v, t)
		VPADDW(table(divisorsAdd), t, t)
		VPMULHUW(table(divisorsRecip), t, t)
		VPMULHUW(table(divisorsScale), t, t)
		VPSIGNW(v, t, t)
		VMOVDQU(t.AsX(), Mem{Base: blocks, Disp: 16 * i})
		VEXTRACTI128(U8(1), t, Mem{Base: blocks, Disp: 128 + 16*i})
		if i == 3 {
			last = t
		} else {
			VMOVDQU(t, at(i))
		}
	})
	var rows [4]VecVirtual
	for i := range rows {
		rows[i] = YMM()
		VMOVDQU(at(2*i), rows[i])
		if i == 1 {
			VPACKSSWB(last, rows[i], rows[i])
		} else {
			VPACKSSWB(at(2*i+1), rows[i], rows[i])
		}
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	var parts [4]VecVirtual
	for part := range parts {
		for r := range 4 {
			if !used[part][r] {
				continue
			}
			t := YMM()
			VPSHUFB(zigzag.Offset(32*(4*part+r)), rows[r], t)
			if parts[part] == nil {
				parts[part] = t
			} else {
				VPOR(t, parts[part], parts[part])
			}
		}
		VPCMPEQB(zero, parts[part], parts[part])
	}
	for block := range 2 {
		var half [2]Register
		for h := range 2 {
			t := YMM()
			VPERM2I128(U8(0x20+0x11*block), parts[2*h+1], parts[2*h], t)
			half[h] = GP64()
			VPMOVMSKB(t, half[h].(GPVirtual).As32())
		}
		SHLQ(U8(32), half[1])
		ORQ(half[0], half[1])
		NOTQ(half[1])
		MOVQ(half[1], Mem{Base: masks, Disp: 8 * block})
	}
	ADDQ(U32(2*128), blocks)
	ADDQ(U8(16), masks)
	ADDQ(U8(16), src)
	SUBQ(U8(2), n)
	JLE(LabelRef("done"))
	CMPQ(n, U8(1))
	JNE(LabelRef("loop"))
	// The last block of an odd number overlaps the pair before.
	SUBQ(U32(128), blocks)
	SUBQ(U8(8), masks)
	SUBQ(U8(8), src)
	INCQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}
