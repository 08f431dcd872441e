package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("jpeg", ycc)

// ycc converts 32 or 16 pixels at a time. The factors are those of ycc.go,
// minus integers so that they fit 16 bits. All chroma is doubled:
//
//	2 R = 2 Y + 1 + 2 Cr + floor(26345 (2 Cr) / 65536)
//	2 B = 2 Y + 1 + 4 Cb + floor(-14942 (2 Cb) / 65536)
//	  G =   Y + floor((-11277 (2 Cb) - 23401 (2 Cr) + 32768) / 65536)
//
// The first two are halved and rounded down, as in floor(x/2 + 1/2) for
// integers x.
func ycc() {
	fr, fb := words("ycc_r", 26345, 26345), words("ycc_b", -14942, -14942)
	fg := words("ycc_g", -11277, -23401)
	half := dwords("ycc_half", 1<<15)
	middle := bytes("ycc_middle", 128, 128)
	// Byte i of 48 comes from position i/3 of colour i%3.
	shuffle := GLOBL("ycc_shuffle", 8|16)
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

	for _, width := range []int{16, 32} {
		op := func(f func(Op, Op, Op), m, a Op) VecVirtual {
			x := vec(width)
			f(m, a, x)
			return x
		}
		// colours computes the three colours of the pixels at y, cb and cr.
		colours := func(y, cb, cr place) (rgb [3]VecVirtual) {
			m, zero := vec(width), vec(width)
			VMOVDQU(middle, m)
			VPXOR(zero, zero, zero)
			l, b, r := vec(width), vec(width), vec(width)
			VMOVDQU(Mem{Base: y.reg}, l)
			VPXOR(Mem{Base: cb.reg}, m, b)
			VPXOR(Mem{Base: cr.reg}, m, r)
			for part := range 2 {
				unpack := bl
				if part == 1 {
					unpack = bh
				}
				// The values are the high bytes of words, shifted right by 7.
				l2, b2, r2 := op(unpack, l, m), op(unpack, b, zero), op(unpack, r, zero)
				VPSRLW(U8(7), l2, l2)
				VPSRAW(U8(7), b2, b2)
				VPSRAW(U8(7), r2, r2)
				red, blue := vec(width), vec(width)
				VPMULHW(fr, r2, red)
				VPADDW(r2, red, red)
				VPADDW(l2, red, red)
				VPSRAW(U8(1), red, red)
				VPMULHW(fb, b2, blue)
				VPADDW(b2, blue, blue)
				VPADDW(b2, blue, blue)
				VPADDW(l2, blue, blue)
				VPSRAW(U8(1), blue, blue)
				lo, hi := vec(width), vec(width)
				VPUNPCKLWD(r2, b2, lo)
				VPUNPCKHWD(r2, b2, hi)
				for _, v := range []VecVirtual{lo, hi} {
					VPMADDWD(fg, v, v)
					VPADDD(half, v, v)
					VPSRAD(U8(16), v, v)
				}
				VPACKSSDW(hi, lo, lo)
				VPSRLW(U8(1), l2, l2)
				VPADDW(l2, lo, lo)
				for i, v := range []VecVirtual{red, lo, blue} {
					if part == 0 {
						rgb[i] = v
					} else {
						VPACKUSWB(v, rgb[i], rgb[i])
					}
				}
			}
			return rgb
		}

		TEXT(fmt.Sprintf("yccToRGBx%d", width), NOSPLIT, "func(dst, y, cb, cr *byte, n int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("yccToRGBx%d converts n pixels, n >= %d.", width, width))
		dst, y, cb, cr := arg("dst", 3), arg("y", 1), arg("cb", 1), arg("cr", 1)
		n := Load(Param("n"), GP64())
		sampleLoop(width, n, []place{dst, y, cb, cr}, func() {
			rgb := colours(y, cb, cr)
			for p := range 3 {
				sum := vec(width)
				VPSHUFB(shuffle.Offset(32*3*p), rgb[0], sum)
				for c := 1; c < 3; c++ {
					t := vec(width)
					VPSHUFB(shuffle.Offset(32*(3*p+c)), rgb[c], t)
					VPOR(t, sum, sum)
				}
				VMOVDQU(sum.AsX(), Mem{Base: dst.reg, Disp: 16 * p})
				if width == 32 {
					VEXTRACTI128(U8(1), sum, Mem{Base: dst.reg, Disp: 48 + 16*p})
				}
			}
		})
	}
}
