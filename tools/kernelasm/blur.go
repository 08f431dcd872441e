package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("blur", blur)

func blur() {
	widen()
	cvBlurRow()
	cvBlurMix()
	floats()
	torchBlur("torchBlurFusedSIMD", "The products are not rounded.", func(src, k, sum Op) { VFMADD231PS(src, k, sum) })
	torchBlur("torchBlurSIMD", "The products are rounded.", func(src, k, sum Op) {
		v := YMM()
		VMULPS(src, k, v)
		VADDPS(v, sum, sum)
	})
}

func widen() {
	function("widenSIMD", "func(dst *uint16, src *byte, n int)")
	Doc("widenSIMD converts n bytes, a multiple of 32 and not 0.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	for i := range 2 {
		v := YMM()
		VPMOVZXBW(Mem{Base: src, Disp: 16 * i}, v)
		VMOVDQU(v, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(32), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// cvBlurRow adds the outer pixels before it multiplies. No sum exceeds 16 bits.
func cvBlurRow() {
	function("cvBlurRowSIMD", "func(dst *byte, src *byte, taps *uint16, half int, n int, step int)")
	Doc("cvBlurRowSIMD is CVBlurRow for n values, a multiple of 32 and not 0. There are 2*half+1 taps.", "step is in bytes.")
	dst, src, taps := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("taps"), GP64())
	half, n, step := Load(Param("half"), GP64()), Load(Param("n"), GP64()), Load(Param("step"), GP64())
	reach := GP64() // from the first tap to the centre
	MOVQ(half, reach)
	IMULQ(step, reach)
	Label("loop")
	left, right, k, m := GP64(), GP64(), GP64(), GP64()
	weight, sums := YMM(), [2]VecVirtual{YMM(), YMM()}
	VPBROADCASTW(Mem{Base: taps, Index: half, Scale: 2}, weight)
	LEAQ(Mem{Base: src, Index: reach, Scale: 1}, left)
	LEAQ(Mem{Base: left, Index: reach, Scale: 1}, right)
	for i, sum := range sums {
		VPMULLW(Mem{Base: left, Disp: 32 * i}, weight, sum)
	}
	MOVQ(src, left)
	MOVQ(taps, k)
	MOVQ(half, m)
	TESTQ(m, m)
	JZ(LabelRef("store"))
	Label("tap")
	VPBROADCASTW(Mem{Base: k}, weight)
	for i, sum := range sums {
		v := YMM()
		VMOVDQU(Mem{Base: left, Disp: 32 * i}, v)
		VPADDW(Mem{Base: right, Disp: 32 * i}, v, v)
		VPMULLW(weight, v, v)
		VPADDW(v, sum, sum)
	}
	ADDQ(U8(2), k)
	ADDQ(step, left)
	SUBQ(step, right)
	DECQ(m)
	JNZ(LabelRef("tap"))
	Label("store")
	for i, sum := range sums {
		VMOVDQU(sum, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(64), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// cvBlurMix multiplies two rows at a time. The values become signed: 1<<15
// less. The weights add up to 256, so the sums are 1<<23 less.
func cvBlurMix() {
	function("cvBlurMixSIMD", "func(dst *byte, rows *byte, at *int64, taps *uint16, half int, n int)")
	Doc("cvBlurMixSIMD is CVBlurMix for n values, a multiple of 32 and not 0. There are 2*half+1 taps.")
	dst, rows, at := Load(Param("dst"), GP64()), Load(Param("rows"), GP64()), Load(Param("at"), GP64())
	taps, half, n := Load(Param("taps"), GP64()), Load(Param("half"), GP64()), Load(Param("n"), GP64())
	signed, start := YMM(), YMM()
	VMOVDQU(words("cvBlurMix_signed", 0x8000, 0x8000), signed)
	VMOVDQU(dwords("cvBlurMix_start", 1<<23+1<<15), start)
	atLast, last, lastWeight := GP64(), GP64(), YMM() // the last tap has no partner
	SHLQ(U8(1), half)
	MOVQ(Mem{Base: at, Index: half, Scale: 8}, atLast)
	ADDQ(rows, atLast)
	MOVWLZX(Mem{Base: taps, Index: half, Scale: 2}, last.As32())
	VMOVD(last.As32(), lastWeight.AsX())
	VPBROADCASTD(lastWeight.AsX(), lastWeight)
	x := GP64()
	XORQ(x, x)
	Label("loop")
	var sums [4]VecVirtual
	for i := range 2 {
		v := YMM()
		sums[2*i], sums[2*i+1] = YMM(), YMM()
		VPXOR(Mem{Base: atLast, Index: x, Scale: 2, Disp: 32 * i}, signed, v)
		for j, f := range []func(a, b, c Op){lowWords, highWords} {
			sum := sums[2*i+j]
			f(v, v, sum)
			VPMADDWD(lastWeight, sum, sum)
			VPADDD(start, sum, sum)
		}
	}
	tap := GP64()
	XORQ(tap, tap)
	CMPQ(tap, half)
	JEQ(LabelRef("store"))
	Label("taps")
	p, q, weights := GP64(), GP64(), YMM()
	MOVQ(Mem{Base: at, Index: tap, Scale: 8}, p)
	MOVQ(Mem{Base: at, Index: tap, Scale: 8, Disp: 8}, q)
	ADDQ(rows, p)
	ADDQ(rows, q)
	VPBROADCASTD(Mem{Base: taps, Index: tap, Scale: 2}, weights)
	for i := range 2 {
		v, w := YMM(), YMM()
		VPXOR(Mem{Base: p, Index: x, Scale: 2, Disp: 32 * i}, signed, v)
		VPXOR(Mem{Base: q, Index: x, Scale: 2, Disp: 32 * i}, signed, w)
		for j, f := range []func(a, b, c Op){lowWords, highWords} {
			t := YMM()
			f(w, v, t) // pairs of v and w
			VPMADDWD(weights, t, t)
			VPADDD(t, sums[2*i+j], sums[2*i+j])
		}
	}
	ADDQ(U8(2), tap)
	CMPQ(tap, half)
	JNE(LabelRef("taps"))
	Label("store")
	for _, sum := range sums {
		VPSRLD(U8(16), sum, sum)
	}
	VPACKUSDW(sums[1], sums[0], sums[0])
	VPACKUSDW(sums[3], sums[2], sums[2])
	VPACKUSWB(sums[2], sums[0], sums[0])
	VPERMQ(U8(0b11011000), sums[0], sums[0])
	VMOVDQU(sums[0], Mem{Base: dst, Index: x, Scale: 1})
	ADDQ(U8(32), x)
	CMPQ(x, n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func floats() {
	function("floatsSIMD", "func(dst *float32, src *byte, n int)")
	Doc("floatsSIMD converts n bytes, a multiple of 32 and not 0.")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	Label("loop")
	for i := range 4 {
		v := YMM()
		VPMOVZXBD(Mem{Base: src, Disp: 8 * i}, v)
		VCVTDQ2PS(v, v)
		VMOVUPS(v, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(32), src)
	SUBQ(I8(-128), dst)
	SUBQ(U8(32), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// torchBlur writes TorchBlurRow. The sums of 64 values are in eight registers:
// a multiplication with addition takes four cycles, and two start in each.
func torchBlur(name, doc string, multiply func(src, k, sum Op)) {
	function(name, "func(sums, rows *float32, at *int64, height int, taps *float32, width, n, step int)")
	Doc(name+" is TorchBlurRow for n values, a multiple of 64 and not 0. step is in bytes.", doc)
	dst, rows, at := Load(Param("sums"), GP64()), Load(Param("rows"), GP64()), Load(Param("at"), GP64())
	height, taps, width := Load(Param("height"), GP64()), Load(Param("taps"), GP64()), Load(Param("width"), GP64())
	n, step := Load(Param("n"), GP64()), Load(Param("step"), GP64())
	Label("loop")
	var sums [8]VecVirtual
	weight, k, y, x, src := YMM(), GP64(), GP64(), GP64(), GP64()
	MOVQ(taps, k)
	MOVQ(Mem{Base: at}, src)
	LEAQ(Mem{Base: rows, Index: src, Scale: 4}, src)
	VBROADCASTSS(Mem{Base: k}, weight)
	for i := range sums {
		sums[i] = YMM()
		VMULPS(Mem{Base: src, Disp: 32 * i}, weight, sums[i])
	}
	XORQ(y, y)
	MOVQ(width, x)
	JMP(LabelRef("next"))
	Label("row")
	MOVQ(Mem{Base: at, Index: y, Scale: 8}, src)
	LEAQ(Mem{Base: rows, Index: src, Scale: 4}, src)
	MOVQ(width, x)
	Label("tap")
	VBROADCASTSS(Mem{Base: k}, weight)
	for i := range sums {
		multiply(Mem{Base: src, Disp: 32 * i}, weight, sums[i])
	}
	Label("next")
	ADDQ(U8(4), k)
	ADDQ(step, src)
	DECQ(x)
	JNZ(LabelRef("tap"))
	INCQ(y)
	CMPQ(y, height)
	JNE(LabelRef("row"))
	for i, sum := range sums {
		VMOVUPS(sum, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U32(256), dst)
	ADDQ(U32(256), rows)
	SUBQ(U8(64), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
