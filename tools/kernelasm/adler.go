package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// adler sums 32 bytes at a time: the bytes, the bytes times 32 to 1, and the
// first sum before each 32 bytes, which the second counts 32 times.
var _ = add("adler", func() {
	function("adlerSIMD", "func(p *byte, n int, sums *[2]uint32)")
	Doc("adlerSIMD adds n bytes to the sums of Adler-32, which it does not reduce. n is", "a multiple of 32, not 0.")
	p, n := params("p")
	sums := Load(Param("sums"), GP64())
	weights := GLOBL("adler_weights", 8|16)
	for i := range 32 {
		DATA(i, U8(32-i))
	}
	w, ones, zero := YMM(), YMM(), YMM()
	VMOVDQU(weights, w)
	VPCMPEQW(ones, ones, ones)
	VPSRLW(U8(15), ones, ones)
	VPXOR(zero, zero, zero)
	first, second, before := YMM(), YMM(), YMM() // of 64, 32 and 64 bits
	VPXOR(first, first, first)
	VPXOR(second, second, second)
	VPXOR(before, before, before)
	count := GP64()
	MOVQ(n, count)
	Label("loop")
	v, s := YMM(), YMM()
	VMOVDQU(Mem{Base: p[0]}, v)
	VPADDQ(first, before, before)
	VPSADBW(v, zero, s)
	VPADDQ(s, first, first)
	VPMADDUBSW(w, v, v)
	VPMADDWD(ones, v, v)
	VPADDD(v, second, second)
	advance(32, n, p...)

	// The parts of 64 bits are below 2^32 in the end, and so is their sum.
	total := func(v VecVirtual) GPVirtual {
		hi, sum := XMM(), GP64()
		VEXTRACTI128(U8(1), v, hi)
		VPADDD(hi, v.AsX(), hi)
		x := XMM()
		VPSHUFD(U8(0x4E), hi, x)
		VPADDD(x, hi, hi)
		VPSHUFD(U8(0xB1), hi, x)
		VPADDD(x, hi, hi)
		VMOVQ(hi, sum)
		return sum
	}
	a, b := GP64(), GP64()
	MOVL(Mem{Base: sums}, a.As32())
	MOVL(Mem{Base: sums, Disp: 4}, b.As32())
	IMULQ(a, count)
	ADDL(count.As32(), b.As32())
	t := total(before)
	SHLL(U8(5), t.As32())
	ADDL(t.As32(), b.As32())
	ADDL(total(second).As32(), b.As32())
	ADDL(total(first).As32(), a.As32())
	MOVL(a.As32(), Mem{Base: sums})
	MOVL(b.As32(), Mem{Base: sums, Disp: 4})
	VZEROUPPER()
	RET()
})
