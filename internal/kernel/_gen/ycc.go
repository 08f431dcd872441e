package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ycc converts 16 pixels at a time. The factors are those of ycc.go less whole
// numbers, so that they fit 16 bits:
//
//	R = Y + Cr + round(26345 Cr), B = Y + 2 Cb + round(-14942 Cb),
//	G = Y - Cr + round(-22554 Cb + 18734 Cr), in 65536ths.
func ycc() {
	bias := words("ycc_bias", 128, 128)
	one := words("ycc_one", 1, 1)
	fr, fb := words("ycc_r", 26345, 26345), words("ycc_b", -14942, -14942)
	fg := words("ycc_g", -22554, 18734)
	half := dwords("ycc_half", 1<<15)
	// Byte i of 48 comes from place i/3 of colour i%3.
	shuffle := GLOBL("ycc_shuffle", 8|16)
	for part := range 3 {
		for c := range 3 {
			for i := range 16 {
				at := 16*part + i
				v := 0x80
				if at%3 == c {
					v = at / 3
				}
				DATA(16*(3*part+c)+i, U8(v))
			}
		}
	}

	TEXT("yccToRGBAVX2", NOSPLIT, "func(dst, y, cb, cr *byte, n int)")
	Pragma("noescape")
	Doc("yccToRGBAVX2 converts n pixels, a multiple of 16 and not 0.")
	dst, y := Load(Param("dst"), GP64()), Load(Param("y"), GP64())
	cb, cr := Load(Param("cb"), GP64()), Load(Param("cr"), GP64())
	n := Load(Param("n"), GP64())
	Label("loop")
	load := func(p Register) VecVirtual {
		v := YMM()
		VPMOVZXBW(Mem{Base: p}, v)
		ADDQ(U8(16), p)
		return v
	}
	l, b, r := load(y), load(cb), load(cr)
	VPSUBW(bias, b, b)
	VPSUBW(bias, r, r)
	// round(f x / 65536) is (floor(2 f x / 65536) + 1) / 2.
	part := func(x VecVirtual, f Mem) VecVirtual {
		v := YMM()
		VPADDW(x, x, v)
		VPMULHW(f, v, v)
		VPADDW(one, v, v)
		VPSRAW(U8(1), v, v)
		return v
	}
	red := part(r, fr)
	VPADDW(r, red, red)
	VPADDW(l, red, red)
	blue := part(b, fb)
	VPADDW(b, blue, blue)
	VPADDW(b, blue, blue)
	VPADDW(l, blue, blue)
	lo, hi := YMM(), YMM()
	VPUNPCKLWD(r, b, lo)
	VPUNPCKHWD(r, b, hi)
	for _, v := range []VecVirtual{lo, hi} {
		VPMADDWD(fg, v, v)
		VPADDD(half, v, v)
		VPSRAD(U8(16), v, v)
	}
	green := YMM()
	VPACKSSDW(hi, lo, green)
	VPSUBW(r, green, green)
	VPADDW(l, green, green)
	var bytes [3]VecVirtual
	for i, v := range []VecVirtual{red, green, blue} {
		VPACKUSWB(v, v, v)
		VPERMQ(U8(0x08), v, v)
		bytes[i] = v
	}
	for p := range 3 {
		sum := XMM()
		VPSHUFB(shuffle.Offset(16*3*p), bytes[0].AsX(), sum)
		for c := 1; c < 3; c++ {
			t := XMM()
			VPSHUFB(shuffle.Offset(16*(3*p+c)), bytes[c].AsX(), t)
			VPOR(t, sum, sum)
		}
		VMOVDQU(sum, Mem{Base: dst, Disp: 16 * p})
	}
	ADDQ(U8(48), dst)
	SUBQ(U8(16), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
