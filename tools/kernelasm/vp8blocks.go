package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("vp8", vp8Blocks)

// vp8Blocks writes VP8PredictBlocks. Each block waits for the one before it, so
// it has no branch, and few instructions lead from the samples to its left to
// the result. All modes are computed: means of two and of three neighbours of
// the edge, the mean of all, and TM_PRED. Shuffles select those of the mode.
func vp8Blocks() {
	raw := func(name string, v ...int) Mem {
		m := GLOBL(name, 8|16)
		for i, b := range v {
			DATA(i, U8(uint8(b)))
		}
		return m
	}
	const no = 0x80 // a shuffle then writes 0
	// The edge, from the lowest sample at the left to the last one above. The
	// first and the last are there twice.
	const corner, above = 5, 6
	edgeLeft := raw("vp8_edge_left", 15, 15, 11, 7, 3, no, no, no, no, no, no, no, no, no, no, no)
	edgeAbove := raw("vp8_edge_above", no, no, no, no, no, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, no)
	// The eight samples of the mean, in the lower half.
	meanLeft := raw("vp8_mean_left", 3, 7, 11, 15, no, no, no, no, no, no, no, no, no, no, no, no)
	meanAbove := raw("vp8_mean_above", no, no, no, no, 1, 2, 3, 4, no, no, no, no, no, no, no, no)
	// Words of TM_PRED for two rows.
	left01 := raw("vp8_left01", 3, no, 3, no, 3, no, 3, no, 7, no, 7, no, 7, no, 7, no)
	left23 := raw("vp8_left23", 11, no, 11, no, 11, no, 11, no, 15, no, 15, no, 15, no, 15, no)
	aboves := raw("vp8_aboves", 1, no, 2, no, 3, no, 4, no, 1, no, 2, no, 3, no, 4, no)
	corners := raw("vp8_corners", 0, no, 0, no, 0, no, 0, no, 0, no, 0, no, 0, no, 0, no)

	// For each mode 64 bytes: the shuffles of the means of three, of two, and
	// of all, and the mask of TM_PRED.
	const of3, of2 = 0, 16
	sample := func(mode, x, y int) int { // of3 or of2 plus a position
		// pick chooses among the means along the edge, which begins with a mean
		// of two.
		pick := func(i int) int {
			if i%2 == 0 {
				return of2 + i/2
			}
			return of3 + i/2
		}
		switch mode {
		case 2: // vertical
			return of3 + corner + x
		case 3: // horizontal
			return of3 + 3 - y
		case 4: // right, down
			return of3 + corner - 1 + x - y
		case 5: // vertical, right
			switch {
			case x == 0 && y >= 2:
				return of3 + corner - y
			case y%2 == 0:
				return of2 + corner + x - y/2
			}
			return of3 + corner - 1 + x - y/2
		case 6: // left, down
			return of3 + above + x + y
		case 7: // vertical, left
			switch {
			case x == 3 && y >= 2:
				return of3 + above + y + 2
			case y%2 == 0:
				return of2 + above + x + y/2
			}
			return of3 + above + x + y/2
		case 8: // horizontal, down
			if y == 0 && x >= 2 {
				return of3 + corner - 2 + x
			}
			return pick(2 + 2*(3-y) + x)
		case 9: // horizontal, up
			if i := x + 2*y; i < 6 {
				return []int{of2 + 3, of3 + 2, of2 + 2, of3 + 1, of2 + 1, of3}[i]
			}
			return of2
		}
		return -1
	}
	choices := make([]int, 10*64)
	for mode := range 10 {
		for i := range 16 {
			three, two, all, true := no, no, no, 0
			switch at := sample(mode, i%4, i/4); {
			case mode == 0:
				all = 0
			case mode == 1:
				true = 0xFF
			case at >= of2:
				two = at - of2
			default:
				three = at - of3
			}
			for k, v := range []int{three, two, all, true} {
				choices[64*mode+16*k+i] = v
			}
		}
	}
	modes := raw("vp8_modes", choices...)
	ones, transform := bytes("vp8_ones", 1, 1), newVP8Transform()

	TEXT("vp8PredictBlocksSIMD", 0, "func(dst *byte, stride int, modes *[16]uint8, coef *[16][16]int16)")
	Pragma("noescape")
	Doc("vp8PredictBlocksSIMD is VP8PredictBlocks for coefficients below 1<<13.")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	mode, coef := Load(Param("modes"), GP64()), Load(Param("coef"), GP64())
	three, table, rows := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	LEAQ(modes, table)
	row := func(y int) Mem {
		m := Mem{Base: dst}
		switch y {
		case 1:
			m.Index, m.Scale = stride, 1
		case 2:
			m.Index, m.Scale = stride, 2
		case 3:
			m.Index, m.Scale = three, 1
		}
		return m
	}
	residuals := AllocLocal(128)

	// top has the samples above a row of blocks, before their last byte is the
	// corner; right has those above to the right of the macroblock.
	top, right, first, zero := XMM(), XMM(), XMM(), XMM()
	p := GP64()
	MOVQ(dst, p)
	SUBQ(stride, p)
	VMOVDQU(Mem{Base: p}, top)
	VMOVD(Mem{Base: p, Disp: 16}, right)
	VPINSRB(U8(15), Mem{Base: p, Disp: -1}, first, first)
	MOVQ(U32(4), rows)

	Label("row")
	{
		var in, r [4]VecVirtual
		for n := range in {
			in[n], r[n] = YMM(), YMM()
			VMOVDQU(Mem{Base: coef, Disp: 16 * n}, in[n].AsX())
			VINSERTI128(U8(1), Mem{Base: coef, Disp: 64 + 16*n}, in[n], in[n])
		}
		VPUNPCKLQDQ(in[2], in[0], r[0])
		VPUNPCKHQDQ(in[2], in[0], r[1])
		VPUNPCKLQDQ(in[3], in[1], r[2])
		VPUNPCKHQDQ(in[3], in[1], r[3])
		r = transform.both(32, r)
		// Of each block two rows, then the other two.
		for i, x := range [2][2]VecVirtual{{r[0], r[1]}, {r[2], r[3]}} {
			lo, hi := YMM(), YMM()
			VPUNPCKLQDQ(x[1], x[0], lo)
			VPUNPCKHQDQ(x[1], x[0], hi)
			VMOVDQU(lo.AsX(), residuals.Offset(16*i))
			VMOVDQU(hi.AsX(), residuals.Offset(32+16*i))
			VEXTRACTI128(U8(1), lo, residuals.Offset(64+16*i))
			VEXTRACTI128(U8(1), hi, residuals.Offset(96+16*i))
		}
	}
	// around has the corner and 15 samples above, behind the rest.
	around, behind := XMM(), XMM()
	VPALIGNR(U8(15), first, top, around)
	VPALIGNR(U8(15), top, right, behind)
	left := XMM()
	VMOVD(row(0).Offset(-4), left)
	for y := 1; y < 4; y++ {
		VPINSRD(U8(y), row(y).Offset(-4), left, left)
	}
	VMOVDQA(left, first)
	VPXOR(zero, zero, zero)
	var out [4]VecVirtual
	for x := range out {
		m := GP64()
		MOVBQZX(Mem{Base: mode, Disp: x}, m)
		SHLQ(U8(6), m)
		choose := func(k int) Mem { return Mem{Base: table, Index: m, Scale: 1, Disp: 16 * k} }
		here := around
		if x > 0 {
			here = XMM()
			VPALIGNR(U8(4*x), around, behind, here)
		}
		e, e1, e2, s := XMM(), XMM(), XMM(), XMM()
		VPSHUFB(edgeAbove, here, e)
		VPSHUFB(edgeLeft, left, s)
		VPOR(s, e, e)
		VPSRLDQ(U8(1), e, e1)
		VPSRLDQ(U8(2), e, e2)
		two, odd := XMM(), XMM()
		VPAVGB(e1, e, two)
		// The mean of e, twice e1 and e2: that of e and e2 is rounded down.
		VPXOR(e2, e, odd)
		VPAND(ones, odd, odd)
		VPAVGB(e2, e, e2)
		VPSUBB(odd, e2, e2)
		VPAVGB(e2, e1, e1)
		// The mean of eight samples.
		all, a := XMM(), XMM()
		VPSHUFB(meanAbove, here, a)
		VPSHUFB(meanLeft, left, all)
		VPOR(a, all, all)
		VPSADBW(zero, all, all)
		VPADDW(transform.four, all, all)
		VPSRLW(U8(3), all, all)
		// TM_PRED.
		t0, t1, c := XMM(), XMM(), XMM()
		VPSHUFB(aboves, here, a)
		VPSHUFB(corners, here, c)
		VPSUBW(c, a, a)
		VPSHUFB(left01, left, t0)
		VPSHUFB(left23, left, t1)
		VPADDW(a, t0, t0)
		VPADDW(a, t1, t1)
		VPACKUSWB(t1, t0, t0)
		o := XMM()
		VPSHUFB(choose(0), e1, o)
		VPSHUFB(choose(1), two, two)
		VPSHUFB(choose(2), all, all)
		VPAND(choose(3), t0, t0)
		VPOR(t0, two, two)
		VPOR(two, o, o)
		VPOR(all, o, o)
		hi := XMM()
		VPUNPCKHBW(zero, o, hi)
		VPUNPCKLBW(zero, o, o)
		VPADDW(residuals.Offset(32*x), o, o)
		VPADDW(residuals.Offset(32*x+16), hi, hi)
		VPACKUSWB(hi, o, o)
		out[x], left = o, o
	}
	a, b, c, d := XMM(), XMM(), XMM(), XMM()
	VPUNPCKLDQ(out[1], out[0], a)
	VPUNPCKLDQ(out[3], out[2], b)
	VPUNPCKHDQ(out[1], out[0], c)
	VPUNPCKHDQ(out[3], out[2], d)
	for y, x := range [4][2]VecVirtual{{a, b}, {a, b}, {c, d}, {c, d}} {
		o := top
		if y < 3 {
			o = XMM()
		}
		if y%2 == 0 {
			VPUNPCKLQDQ(x[1], x[0], o)
		} else {
			VPUNPCKHQDQ(x[1], x[0], o)
		}
		VMOVDQU(o, row(y))
	}
	LEAQ(Mem{Base: dst, Index: stride, Scale: 4}, dst)
	ADDQ(U8(4), mode)
	ADDQ(U32(128), coef)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
