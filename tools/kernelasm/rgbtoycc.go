package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("encode", rgbToYCC)

// rgbToYCC writes RGBToYCC. The factor 0.587 is divided between both pairs of
// words, and 0.5, whose factor 32768 has no word, is subtracted as -32768.
func rgbToYCC() {
	// The pixels of the upper lane start 4 bytes later than those of the lower
	// one, so that no load goes beyond the last pixel.
	at := func(first int) func(i int) int {
		return func(i int) int {
			pixel := 3*(i%16/4) + i/16*4
			switch i % 4 {
			case 0:
				return pixel + first
			case 2:
				return pixel + 1
			}
			return -1
		}
	}
	rg, bg := bytesOf("rgb_rg", 32, at(0)), bytesOf("rgb_bg", 32, at(2))
	yrg, ybg := words("rgb_y_rg", 19595, 19235), words("rgb_y_bg", 7471, 19235)
	brg, rbg := words("rgb_cb_rg", -11059, -21709), words("rgb_cr_bg", -5329, -27439)
	half := words("rgb_half", -32768, 0)
	yRound, cRound := dwords("rgb_y_round", 1<<15), dwords("rgb_c_round", 128<<16+1<<15-1)
	order := GLOBL("rgb_order", 8|16)
	for i, v := range []int{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(uint32(v)))
	}

	function("rgbToYCCSIMD", "func(y, cb, cr, rgb *byte, n int)")
	Doc("rgbToYCCSIMD converts n pixels, n >= 32.")
	dst := [3]place{arg("y", 1), arg("cb", 1), arg("cr", 1)}
	rgb := arg("rgb", 3)
	n := Load(Param("n"), GP64())
	mrg, mbg := YMM(), YMM()
	VMOVDQU(rg, mrg)
	VMOVDQU(bg, mbg)
	// eight converts 8 pixels to 32-bit values.
	eight := func(i int) (out [3]VecVirtual) {
		v, a, b := YMM(), YMM(), YMM()
		VBROADCASTI128(Mem{Base: rgb.reg, Disp: 24 * i}, v)
		VINSERTI128(U8(1), Mem{Base: rgb.reg, Disp: 24*i + 8}, v, v)
		VPSHUFB(mrg, v, a)
		VPSHUFB(mbg, v, b)
		y, cb, cr := madd(a, yrg), madd(a, brg), madd(b, rbg)
		t := madd(b, ybg)
		VPADDD(t, y, y)
		VPADDD(yRound, y, y)
		VPMADDWD(half, b, b)
		VPSUBD(b, cb, cb)
		VPADDD(cRound, cb, cb)
		VPMADDWD(half, a, a)
		VPSUBD(a, cr, cr)
		VPADDD(cRound, cr, cr)
		out = [3]VecVirtual{y, cb, cr}
		for _, v := range out {
			VPSRLD(U8(16), v, v)
		}
		return out
	}
	sampleLoop(32, n, []place{dst[0], dst[1], dst[2], rgb}, func() {
		var words [2][3]VecVirtual
		for h := range words {
			words[h] = eight(2 * h)
			for c, v := range eight(2*h + 1) {
				VPACKUSDW(v, words[h][c], words[h][c])
			}
		}
		p := YMM()
		VMOVDQU(order, p)
		for c, v := range words[0] {
			VPACKUSWB(words[1][c], v, v)
			VPERMD(v, p, v)
			VMOVDQU(v, Mem{Base: dst[c].reg})
		}
	})
}

var _ = add("encode", downsample)

// downsample writes DownsampleH2V1 and DownsampleH2V2.
func downsample() {
	ones := bytes("down_1", 1, 1)
	bias := [3]Mem{1: words("down_bias1", 0, 1), 2: words("down_bias2", 1, 2)}
	for rows := 1; rows <= 2; rows++ {
		if rows == 1 {
			function("downsampleH2V1SIMD", "func(dst, a *byte, n int)")
			Doc("downsampleH2V1SIMD averages to n samples, n >= 16 and even.")
		} else {
			function("downsampleH2V2SIMD", "func(dst, a, b *byte, n int)")
			Doc("downsampleH2V2SIMD averages to n samples, n >= 16 and even.")
		}
		dst, a := arg("dst", 1), arg("a", 2)
		places := []place{dst, a}
		if rows == 2 {
			places = append(places, arg("b", 2))
		}
		n := Load(Param("n"), GP64())
		m := YMM()
		VMOVDQU(ones, m)
		loopOver(16, true, n, places, func() {
			var sum VecVirtual
			for _, p := range places[1:] {
				v := YMM()
				VMOVDQU(Mem{Base: p.reg}, v)
				VPMADDUBSW(m, v, v)
				if sum == nil {
					sum = v
				} else {
					VPADDW(v, sum, sum)
				}
			}
			VPADDW(bias[rows], sum, sum)
			VPSRLW(U8(rows), sum, sum)
			VPACKUSWB(sum, sum, sum)
			VPERMQ(U8(0x08), sum, sum)
			VMOVDQU(sum.AsX(), Mem{Base: dst.reg})
		})
	}
}
