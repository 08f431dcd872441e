package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("vp8", vp8Add)
var _ = add("vp8", vp8True)
var _ = add("vp8", vp8Filter)
var _ = add("vp8", vp8Colours)

// vp8Transform writes the inverse transform. Each lane of 128 bits has the same
// rows or columns of two blocks.
type vp8Transform struct {
	k1, k2 Mem // the factors are 1 + k1 and 1 + k2 in units of 1/65536
	four   Mem
}

var vp8Factors vp8Transform

func newVP8Transform() vp8Transform {
	if vp8Factors == (vp8Transform{}) {
		vp8Factors = vp8Transform{words("vp8_k1", 20091, 20091), words("vp8_k2", 35468-1<<16, 35468-1<<16), words("vp8_4", 4, 4)}
	}
	return vp8Factors
}

// pass is the one-dimensional transform of i.
func (f vp8Transform) pass(width int, i [4]VecVirtual) (o [4]VecVirtual) {
	a, b, c, d, t := vec(width), vec(width), vec(width), vec(width), vec(width)
	VPADDW(i[2], i[0], a)
	VPSUBW(i[2], i[0], b)
	VPMULHW(f.k2, i[1], c)
	VPADDW(i[1], c, c)
	VPMULHW(f.k1, i[3], t)
	VPSUBW(t, c, c)
	VPSUBW(i[3], c, c)
	VPMULHW(f.k1, i[1], d)
	VPADDW(i[1], d, d)
	VPMULHW(f.k2, i[3], t)
	VPADDW(t, d, d)
	VPADDW(i[3], d, d)
	for n := range o {
		o[n] = vec(width)
	}
	VPADDW(d, a, o[0])
	VPADDW(c, b, o[1])
	VPSUBW(c, b, o[2])
	VPSUBW(d, a, o[3])
	return o
}

// turn transposes both blocks.
func (f vp8Transform) turn(width int, i [4]VecVirtual) (o [4]VecVirtual) {
	var u, w [4]VecVirtual
	for n := range o {
		o[n], u[n], w[n] = vec(width), vec(width), vec(width)
	}
	VPUNPCKLWD(i[1], i[0], u[0])
	VPUNPCKHWD(i[1], i[0], u[1])
	VPUNPCKLWD(i[3], i[2], u[2])
	VPUNPCKHWD(i[3], i[2], u[3])
	VPUNPCKLDQ(u[2], u[0], w[0])
	VPUNPCKHDQ(u[2], u[0], w[1])
	VPUNPCKLDQ(u[3], u[1], w[2])
	VPUNPCKHDQ(u[3], u[1], w[3])
	VPUNPCKLQDQ(w[2], w[0], o[0])
	VPUNPCKHQDQ(w[2], w[0], o[1])
	VPUNPCKLQDQ(w[3], w[1], o[2])
	VPUNPCKHQDQ(w[3], w[1], o[3])
	return o
}

// both is the whole transform of the rows i.
func (f vp8Transform) both(width int, i [4]VecVirtual) [4]VecVirtual {
	t := f.turn(width, f.pass(width, i))
	VPADDW(f.four, t[0], t[0])
	t = f.pass(width, t)
	for _, v := range t {
		VPSRAW(U8(3), v, v)
	}
	return f.turn(width, t)
}

// vp8Add writes the inverse transforms.
func vp8Add() {
	f := newVP8Transform()

	function("vp8AddRowSIMD", "func(a, b *byte, stride int, coefA, coefB *[16]int16)")
	Doc("vp8AddRowSIMD is VP8AddRow.")
	a, b, stride := Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("stride"), GP64())
	ca, cb := Load(Param("coefA"), GP64()), Load(Param("coefB"), GP64())
	var in [4]VecVirtual
	for n := range in {
		in[n] = YMM()
		VMOVDQU(Mem{Base: ca, Disp: 16 * n}, in[n].AsX())
		VINSERTI128(U8(1), Mem{Base: cb, Disp: 16 * n}, in[n], in[n])
	}
	rows := [4]VecVirtual{YMM(), YMM(), YMM(), YMM()}
	VPUNPCKLQDQ(in[2], in[0], rows[0])
	VPUNPCKHQDQ(in[2], in[0], rows[1])
	VPUNPCKLQDQ(in[3], in[1], rows[2])
	VPUNPCKHQDQ(in[3], in[1], rows[3])
	rows = f.both(32, rows)
	zero := YMM()
	VPXOR(zero, zero, zero)
	for n, v := range rows {
		p, q := YMM(), XMM()
		VMOVQ(Mem{Base: a}, p.AsX())
		VMOVQ(Mem{Base: b}, q)
		VINSERTI128(U8(1), q, p, p)
		VPUNPCKLBW(zero, p, p)
		VPADDW(v, p, p)
		VPACKUSWB(p, p, p)
		VEXTRACTI128(U8(1), p, q)
		VMOVQ(p.AsX(), Mem{Base: a})
		VMOVQ(q, Mem{Base: b})
		if n < 3 {
			ADDQ(stride, a)
			ADDQ(stride, b)
		}
	}
	VZEROUPPER()
	RET()
}

func vp8True() {
	function("vp8TrueSIMD", "func(dst *byte, stride, n int)")
	Doc("vp8TrueSIMD is VP8True for n = 4, 8 or 16. It reads 16 bytes above dst.")
	dst, stride, n := Load(Param("dst"), GP64()), Load(Param("stride"), GP64()), Load(Param("n"), GP64())
	above, corner, t := YMM(), YMM(), GP64()
	MOVQ(dst, t)
	SUBQ(stride, t)
	VPMOVZXBW(Mem{Base: t}, above)
	b := GP32()
	MOVBLZX(Mem{Base: t, Disp: -1}, b)
	VMOVD(b, corner.AsX())
	VPBROADCASTW(corner.AsX(), corner)
	VPSUBW(corner, above, above)
	k := GP64()
	MOVQ(n, k)
	Label("row")
	v, h := YMM(), XMM()
	MOVBLZX(Mem{Base: dst, Disp: -1}, b)
	VMOVD(b, v.AsX())
	VPBROADCASTW(v.AsX(), v)
	VPADDW(above, v, v)
	VEXTRACTI128(U8(1), v, h)
	VPACKUSWB(h, v.AsX(), h)
	CMPQ(n, U8(8))
	JA(LabelRef("store16"))
	JE(LabelRef("store8"))
	VMOVD(h, Mem{Base: dst})
	JMP(LabelRef("next"))
	Label("store8")
	VMOVQ(h, Mem{Base: dst})
	JMP(LabelRef("next"))
	Label("store16")
	VMOVDQU(h, Mem{Base: dst})
	Label("next")
	ADDQ(stride, dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// vp8Filter writes the loop filter of a macroblock. Both directions filter
// lines of 32 samples in local memory: 16 of luma, 8 of each chroma plane. For
// vertical edges the lines are columns.
func vp8Filter() {
	same := func(name string, v uint8) Mem { return bytes(name, int(v), int(v)) }
	sign, evenBits := same("vp8_sign", 0x80), same("vp8_fe", 0xFE)
	three, fourB := same("vp8_b3", 3), same("vp8_b4", 4)
	low5, bit4 := same("vp8_1f", 0x1F), same("vp8_10", 0x10)
	nine, round := words("vp8_9", 9<<8, 9<<8), words("vp8_63", 63, 63)

	// The frame is too large for NOSPLIT.
	TEXT("vp8FilterSIMD", 0, "func(y *byte, stride int, u, v *byte, strideC int, limits *[4]uint8, edges int)")
	Pragma("noescape")
	Doc("vp8FilterSIMD is VP8FilterNormal. limits are those of outer and inner edges, the",
		"interior and the variance. Bits 0 to 2 of edges say whether to filter the left",
		"edge, the upper one and the inner ones.")
	lines := AllocLocal(24 * 32)
	line := func(n int) Mem { return lines.Offset(32 * n) }
	edges := AllocLocal(8)
	direction := AllocLocal(8)
	g := GP64()
	Load(Param("edges"), g)
	MOVQ(g, edges)
	XORQ(g, g)
	MOVQ(g, direction)

	y, u, v := GP64(), GP64(), GP64()
	stride, strideC := GP64(), GP64()
	Load(Param("stride"), stride)
	Load(Param("strideC"), strideC)
	start := func() {
		Load(Param("y"), y)
		Load(Param("u"), u)
		Load(Param("v"), v)
	}
	// columns copies 16 rows of 8 samples of luma and, if chroma is true, those
	// of the two chroma planes to 8 lines.
	columns := func(first int, chroma bool) {
		width := 16
		if chroma {
			width = 32
		}
		start()
		var r [16]VecVirtual
		for i := range 8 { // pairs of rows
			var pair [2]VecVirtual
			for k := range 2 {
				pair[k] = vec(width)
				VPBROADCASTQ(Mem{Base: y, Disp: first}, pair[k])
				ADDQ(stride, y)
				if chroma {
					p := u
					if i >= 4 {
						p = v
					}
					t := YMM()
					VPBROADCASTQ(Mem{Base: p, Disp: first}, t)
					VPBLENDD(U8(0xF0), t, pair[k], pair[k])
					ADDQ(strideC, p)
				}
			}
			r[i] = vec(width)
			VPUNPCKLBW(pair[1], pair[0], r[i]) // samples of two rows: a0 b0 a1 b1 …
		}
		// Words of 2 rows, double words of 4, quad words of 8.
		var q [8]VecVirtual
		for i := range 4 {
			q[2*i], q[2*i+1] = vec(width), vec(width)
			VPUNPCKLWD(r[2*i+1], r[2*i], q[2*i])   // columns 0 to 3 of rows 4i to 4i+3
			VPUNPCKHWD(r[2*i+1], r[2*i], q[2*i+1]) // columns 4 to 7
		}
		for half := range 2 {
			var d [4]VecVirtual
			for i := range 2 {
				d[2*i], d[2*i+1] = vec(width), vec(width)
				VPUNPCKLDQ(q[4*i+2+half], q[4*i+half], d[2*i])   // columns 0, 1 of rows 8i to 8i+7
				VPUNPCKHDQ(q[4*i+2+half], q[4*i+half], d[2*i+1]) // columns 2, 3
			}
			for c := range 4 {
				o := vec(width)
				if c%2 == 0 {
					VPUNPCKLQDQ(d[2+c/2], d[c/2], o)
				} else {
					VPUNPCKHQDQ(d[2+c/2], d[c/2], o)
				}
				VMOVDQU(o, line(4+first+4*half+c))
			}
		}
	}
	// back writes the columns back.
	back := func(first int, chroma bool) {
		width := 16
		if chroma {
			width = 32
		}
		start()
		var w [8]VecVirtual // pairs of columns of 8 rows: low and high
		for i := range 4 {
			a, b := vec(width), vec(width)
			VMOVDQU(line(4+first+2*i), a)
			VMOVDQU(line(4+first+2*i+1), b)
			w[2*i], w[2*i+1] = vec(width), vec(width)
			VPUNPCKLBW(b, a, w[2*i])
			VPUNPCKHBW(b, a, w[2*i+1])
		}
		for half := range 2 { // rows 0 to 7, 8 to 15
			var d [4]VecVirtual // columns 0 to 3 and 4 to 7 of 4 rows each
			for i := range 2 {
				d[2*i], d[2*i+1] = vec(width), vec(width)
				VPUNPCKLWD(w[4*i+2+half], w[4*i+half], d[2*i])
				VPUNPCKHWD(w[4*i+2+half], w[4*i+half], d[2*i+1])
			}
			p := u
			if half == 1 {
				p = v
			}
			for k := range 4 { // rows 2k and 2k+1
				o := vec(width)
				if k%2 == 0 {
					VPUNPCKLDQ(d[2+k/2], d[k/2], o)
				} else {
					VPUNPCKHDQ(d[2+k/2], d[k/2], o)
				}
				VMOVQ(o.AsX(), Mem{Base: y, Disp: first})
				ADDQ(stride, y)
				VPEXTRQ(U8(1), o.AsX(), Mem{Base: y, Disp: first})
				ADDQ(stride, y)
				if chroma {
					t := XMM()
					VEXTRACTI128(U8(1), o, t)
					VMOVQ(t, Mem{Base: p, Disp: first})
					ADDQ(strideC, p)
					VPEXTRQ(U8(1), t, Mem{Base: p, Disp: first})
					ADDQ(strideC, p)
				}
			}
		}
	}
	// rows copies the rows from -4 on to lines, or back.
	rows := func(back bool) {
		start()
		for range 4 {
			SUBQ(stride, y)
			SUBQ(strideC, u)
			SUBQ(strideC, v)
		}
		for i := range 20 {
			t := XMM()
			if back {
				if i > 0 { // the first row does not change
					VMOVDQU(line(i), t)
					VMOVDQU(t, Mem{Base: y})
				}
			} else {
				VMOVDQU(Mem{Base: y}, t)
				VMOVDQU(t, line(i))
			}
			ADDQ(stride, y)
			if i < 12 {
				t := XMM()
				if back {
					if i > 0 {
						VMOVDQU(line(i).Offset(16), t)
						VMOVQ(t, Mem{Base: u})
						VPEXTRQ(U8(1), t, Mem{Base: v})
					}
				} else {
					VMOVQ(Mem{Base: u}, t)
					VPINSRQ(U8(1), Mem{Base: v}, t, t)
					VMOVDQU(t, line(i).Offset(16))
				}
				ADDQ(strideC, u)
				ADDQ(strideC, v)
			}
		}
	}

	limits := GP64()
	Load(Param("limits"), limits)
	limit := func(width, n int) VecVirtual {
		b := vec(width)
		VPBROADCASTB(Mem{Base: limits, Disp: n}, b)
		return b
	}
	// edge filters the edge before line n.
	edge := func(width, n int, outer bool) {
		zero := vec(width)
		VPXOR(zero, zero, zero)
		load := func(i int) VecVirtual {
			x := vec(width)
			VMOVDQU(line(i), x)
			return x
		}
		apart := func(a, b VecVirtual) VecVirtual {
			x, t := vec(width), vec(width)
			VPSUBUSB(b, a, x)
			VPSUBUSB(a, b, t)
			VPOR(t, x, x)
			return x
		}
		p2, p1, p0, q0, q1, q2 := load(n-3), load(n-2), load(n-1), load(n), load(n+1), load(n+2)
		most := apart(load(n-4), p2)
		VPMAXUB(apart(p2, p1), most, most)
		VPMAXUB(apart(load(n+3), q2), most, most)
		VPMAXUB(apart(q2, q1), most, most)
		inner := apart(p1, p0)
		VPMAXUB(apart(q1, q0), inner, inner)
		VPMAXUB(inner, most, most)
		// low is set where the variance is not high, mask where samples change.
		low := inner
		VPSUBUSB(limit(width, 3), inner, low)
		VPCMPEQB(zero, low, low)
		VPSUBUSB(limit(width, 2), most, most)
		d, e := apart(p0, q0), apart(p1, q1)
		VPADDUSB(d, d, d)
		VPAND(evenBits, e, e)
		VPSRLW(U8(1), e, e)
		VPADDUSB(e, d, d)
		which := 1
		if outer {
			which = 0
		}
		VPSUBUSB(limit(width, which), d, d)
		VPOR(d, most, most)
		VPCMPEQB(zero, most, most)
		mask := most
		signed := []VecVirtual{p1, p0, q0, q1}
		if outer {
			signed = append(signed, p2, q2)
		}
		for _, x := range signed {
			VPXOR(sign, x, x)
		}
		a, step := vec(width), vec(width)
		VPSUBSB(q1, p1, a)
		if !outer {
			VPANDN(a, low, a)
		}
		VPSUBSB(p0, q0, step)
		for range 3 {
			VPADDSB(step, a, a)
		}
		VPAND(mask, a, a)
		// eighth shifts bytes by 3 and keeps their sign.
		eighth := func(x VecVirtual, add Mem) VecVirtual {
			o := vec(width)
			VPADDSB(add, x, o)
			VPSRLW(U8(3), o, o)
			VPAND(low5, o, o)
			VPXOR(bit4, o, o)
			VPSUBB(bit4, o, o)
			return o
		}
		if outer {
			h := vec(width)
			VPANDN(a, low, h)
			f1, f2 := eighth(h, fourB), eighth(h, three)
			VPSUBSB(f1, q0, q0)
			VPADDSB(f2, p0, p0)
			VPAND(low, a, a)
			lo, hi := vec(width), vec(width)
			VPUNPCKLBW(a, zero, lo) // the high bytes of words
			VPUNPCKHBW(a, zero, hi)
			VPMULHW(nine, lo, lo)
			VPMULHW(nine, hi, hi)
			sl, sh := vec(width), vec(width)
			VPADDW(round, lo, sl)
			VPADDW(round, hi, sh)
			for i, pair := range [3][2]VecVirtual{{p2, q2}, {p1, q1}, {p0, q0}} {
				if i > 0 {
					VPADDW(lo, sl, sl)
					VPADDW(hi, sh, sh)
				}
				x, t := vec(width), vec(width)
				VPSRAW(U8(7), sl, x)
				VPSRAW(U8(7), sh, t)
				VPACKSSWB(t, x, x)
				VPADDSB(x, pair[0], pair[0])
				VPSUBSB(x, pair[1], pair[1])
			}
		} else {
			f1, f2 := eighth(a, fourB), eighth(a, three)
			VPSUBSB(f1, q0, q0)
			VPADDSB(f2, p0, p0)
			// Half of f1, rounded up.
			VPXOR(sign, f1, f1)
			t := vec(width)
			VMOVDQU(sign, t)
			VPAVGB(t, f1, f1)
			VPXOR(t, f1, f1)
			VPAND(low, f1, f1)
			VPSUBSB(f1, q1, q1)
			VPADDSB(f1, p1, p1)
		}
		for _, x := range signed {
			VPXOR(sign, x, x)
		}
		VMOVDQU(p1, line(n-2))
		VMOVDQU(p0, line(n-1))
		VMOVDQU(q0, line(n))
		VMOVDQU(q1, line(n+1))
		if outer {
			VMOVDQU(p2, line(n-3))
			VMOVDQU(q2, line(n+2))
		}
	}

	columns(-4, true)
	columns(4, true)
	columns(12, false)
	Label("filter")
	// The bits of edges are in the order of the directions.
	MOVQ(edges, g)
	MOVQ(direction, y)
	BTQ(y, g)
	JCC(LabelRef("inner"))
	edge(32, 4, true)
	Label("inner")
	MOVQ(edges, g)
	TESTQ(U32(4), g)
	JZ(LabelRef("filtered"))
	edge(32, 8, false)
	edge(16, 12, false)
	edge(16, 16, false)
	Label("filtered")
	MOVQ(direction, y)
	TESTQ(y, y)
	JNZ(LabelRef("last"))
	INCQ(y)
	MOVQ(y, direction)
	back(-4, true)
	back(4, true)
	back(12, false)
	rows(false)
	JMP(LabelRef("filter"))
	Label("last")
	rows(true)
	VZEROUPPER()
	RET()
}

// vp8Colours writes the conversion of pixels, 32 at a time: the 32 chroma
// values between 17 columns of samples belong to them.
func vp8Colours() {
	same := func(name string, v int) Mem { return words(name, v, v) }
	eight := same("vp8_8", 8)
	ky, kr, kug := same("vp8_y", 19077), same("vp8_vr", 26149), same("vp8_ug", 6419)
	kvg, kub := same("vp8_vg", 13320), same("vp8_ub", 33050-1<<16)
	or, og, ob := same("vp8_ro", 14234), same("vp8_go", 8708), same("vp8_bo", 17685)
	shuffle := GLOBL("vp8_shuffle", 8|16)
	for part := range 3 {
		for c := range 3 {
			for i := range 32 { // the same in both lanes
				at := 16*part + i%16
				v := 0x80
				if at%3 == c {
					v = at / 3
				}
				DATA(32*(3*part+c)+i, U8(v))
			}
		}
	}
	for _, size := range []int{3, 4} {
		function(fmt.Sprintf("vp8ToRGBx%dSIMD", size), "func(dst, y *byte, chroma *[4]*byte, n int)")
		Doc(fmt.Sprintf("vp8ToRGBx%dSIMD converts n times 32 pixels to pixels of %d bytes. It reads 17 bytes", size, size),
			"of chroma for the first 32 and 16 more for each of the others.")
		dst, y, n := Load(Param("dst"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
		c := Load(Param("chroma"), GP64())
		var p [4]Register
		for i := range p {
			p[i] = GP64()
			MOVQ(Mem{Base: c, Disp: 8 * i}, p[i].(GPVirtual))
		}
		Label("loop")
		mixed := func(near, far Register) VecVirtual {
			load := func(p Register, at int) VecVirtual {
				x := YMM()
				VPMOVZXBW(Mem{Base: p, Disp: at}, x)
				return x
			}
			n0, n1, f0, f1 := load(near, 0), load(near, 1), load(far, 0), load(far, 1)
			a, b := YMM(), YMM() // the two diagonals
			VPADDW(f0, n1, a)
			VPADDW(f1, n0, b)
			sum := f0
			VPADDW(a, b, sum)
			VPADDW(eight, sum, sum)
			for _, x := range []struct{ diagonal, near VecVirtual }{{a, n0}, {b, n1}} {
				d := x.diagonal
				VPADDW(d, d, d)
				VPADDW(sum, d, d)
				VPSRLW(U8(3), d, d)
				VPADDW(x.near, d, d)
				VPSRLW(U8(1), d, d)
			}
			VPSLLW(U8(8), b, b)
			VPOR(b, a, a)
			return a
		}
		u, v := mixed(p[0], p[1]), mixed(p[2], p[3])
		l, zero := YMM(), YMM()
		VMOVDQU(Mem{Base: y}, l)
		VPXOR(zero, zero, zero)
		var rgb [3]VecVirtual
		for half := range 2 {
			high := func(x VecVirtual) VecVirtual {
				o := YMM()
				if half == 0 {
					VPUNPCKLBW(x, zero, o)
				} else {
					VPUNPCKHBW(x, zero, o)
				}
				return o
			}
			hl, hu, hv := high(l), high(u), high(v)
			VPMULHUW(ky, hl, hl)
			r, g, b, t := YMM(), YMM(), YMM(), YMM()
			VPMULHUW(kr, hv, r)
			VPADDW(hl, r, r)
			VPSUBW(or, r, r)
			VPSRAW(U8(6), r, r)
			VPMULHUW(kug, hu, g)
			VPSUBW(g, hl, g)
			VPMULHUW(kvg, hv, t)
			VPSUBW(t, g, g)
			VPADDW(og, g, g)
			VPSRAW(U8(6), g, g)
			// Blue needs 16 bits without a sign.
			VPMULHUW(kub, hu, b)
			VPADDUSW(hl, b, b)
			VPSUBUSW(ob, b, b)
			VPSRLW(U8(6), b, b)
			for i, x := range []VecVirtual{r, g, b} {
				if half == 0 {
					rgb[i] = x
				} else {
					VPACKUSWB(x, rgb[i], rgb[i])
				}
			}
		}
		if size == 3 {
			for part := range 3 {
				sum := YMM()
				VPSHUFB(shuffle.Offset(32*3*part), rgb[0], sum)
				for c := 1; c < 3; c++ {
					t := YMM()
					VPSHUFB(shuffle.Offset(32*(3*part+c)), rgb[c], t)
					VPOR(t, sum, sum)
				}
				VMOVDQU(sum.AsX(), Mem{Base: dst, Disp: 16 * part})
				VEXTRACTI128(U8(1), sum, Mem{Base: dst, Disp: 48 + 16*part})
			}
		} else {
			a := YMM()
			VPCMPEQB(a, a, a)
			for half := range 2 {
				rg, ba, o, o2 := YMM(), YMM(), YMM(), YMM()
				unpack := VPUNPCKLBW
				if half == 1 {
					unpack = VPUNPCKHBW
				}
				unpack(rgb[1], rgb[0], rg)
				unpack(a, rgb[2], ba)
				VPUNPCKLWD(ba, rg, o)
				VPUNPCKHWD(ba, rg, o2)
				for i, x := range []VecVirtual{o, o2} {
					VMOVDQU(x.AsX(), Mem{Base: dst, Disp: 32*half + 16*i})
					VEXTRACTI128(U8(1), x, Mem{Base: dst, Disp: 64 + 32*half + 16*i})
				}
			}
		}
		ADDQ(U32(32*size), dst)
		ADDQ(U8(32), y)
		for _, r := range p {
			ADDQ(U8(16), r)
		}
		DECQ(n)
		JNZ(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
}
