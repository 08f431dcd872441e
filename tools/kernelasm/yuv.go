package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("yuv", yuv)

func yuv() {
	same := func(name string, v int) Mem { return words(name, v, v) }
	y, bias, round := same("yuv_y", 16320), same("yuv_bias", 128), same("yuv_round", 32)
	vr, ug := same("yuv_vr", 90), same("yuv_ug", 22)
	vg, ub := same("yuv_vg", 46), same("yuv_ub", 113)
	// A lane holds R and G of 8 pixels in one register and B in another.
	order := func(name string, first int, blue bool) Mem {
		return bytesOf(name, 32, twice(func(i int) int {
			p, c := (first+i)/3, (first+i)%3
			if p > 7 || blue != (c == 2) {
				return -1
			}
			return p + 8*(c%2)
		}))
	}
	rg0, b0 := order("yuv_rg0", 0, false), order("yuv_b0", 0, true)
	rg1, b1 := order("yuv_rg1", 16, false), order("yuv_b1", 16, true)
	function("yuv420SIMD", "func(dst, y, u, v *byte, n int, twice *[16]uint8, advance int)")
	Doc("yuv420SIMD is YUV420ToRGB for n pixels, a multiple of 16 and not 0. For each 16", "pixels it reads 16 bytes of u and v, orders them as twice says and advances.")
	dst, yp := Load(Param("dst"), GP64()), Load(Param("y"), GP64())
	up, vp := Load(Param("u"), GP64()), Load(Param("v"), GP64())
	n, tp := Load(Param("n"), GP64()), Load(Param("twice"), GP64())
	advance := Load(Param("advance"), GP64())
	m := XMM()
	VMOVDQU(Mem{Base: tp}, m)
	Label("loop")
	l, x := YMM(), YMM()
	VPMOVZXBW(Mem{Base: yp}, l)
	VPSLLW(U8(8), l, x)
	VPOR(x, l, l)
	VPMULHUW(y, l, l)
	VPADDW(round, l, l)
	chroma := func(p Register) VecVirtual {
		c := YMM()
		VMOVDQU(Mem{Base: p}, c.AsX())
		VPSHUFB(m, c.AsX(), c.AsX())
		VPMOVZXBW(c.AsX(), c)
		VPSUBW(bias, c, c)
		return c
	}
	u, v := chroma(up), chroma(vp)
	r, g, b := YMM(), YMM(), YMM()
	VPMULLW(vr, v, r)
	VPADDW(l, r, r)
	VPMULLW(ug, u, g)
	VPSUBW(g, l, g)
	VPMULLW(vg, v, v)
	VPSUBW(v, g, g)
	VPMULLW(ub, u, b)
	VPADDW(l, b, b)
	for _, c := range []VecVirtual{r, g, b} {
		VPSRAW(U8(6), c, c)
	}
	VPACKUSWB(g, r, r)
	VPACKUSWB(b, b, b)
	o, o1 := YMM(), YMM()
	VPSHUFB(rg0, r, o)
	VPSHUFB(b0, b, x)
	VPOR(x, o, o)
	VPSHUFB(rg1, r, o1)
	VPSHUFB(b1, b, x)
	VPOR(x, o1, o1)
	VMOVDQU(o.AsX(), Mem{Base: dst})
	VMOVQ(o1.AsX(), Mem{Base: dst, Disp: 16})
	VEXTRACTI128(U8(1), o, Mem{Base: dst, Disp: 24})
	VEXTRACTI128(U8(1), o1, o1.AsX())
	VMOVQ(o1.AsX(), Mem{Base: dst, Disp: 40})
	ADDQ(U8(16), yp)
	ADDQ(U8(48), dst)
	ADDQ(advance, up)
	ADDQ(advance, vp)
	SUBQ(U8(16), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
