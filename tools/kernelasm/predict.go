package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// addLeft16 computes two pixels of 3 samples of 16 bits at a time: each plus
// the one before it within the register, then plus the last sum.
var _ = add("predict", func() {
	function("addLeft16AVX2", "func(row *byte, n int)")
	Doc("addLeft16AVX2 adds to every sample the one of its band to the left, in n bytes of", "pixels of 3 samples. It reads 4 bytes after them. n is a multiple of 12, not 0.")
	row, n := Load(Param("row"), GP64()), Load(Param("n"), GP64())
	repeat := GLOBL("predict_repeat", 8|16)
	for i := range 16 {
		at := 6 + i%6
		if i >= 12 {
			at = 255
		}
		DATA(i, U8(at))
	}
	order, sum := XMM(), XMM()
	VMOVDQU(repeat, order)
	VPXOR(sum, sum, sum)
	Label("loop")
	v, left := XMM(), XMM()
	VMOVDQU(Mem{Base: row}, v)
	VPSLLDQ(U8(6), v, left)
	VPADDW(left, v, v)
	VPADDW(sum, v, v)
	VPSHUFB(order, v, sum)
	VMOVQ(v, Mem{Base: row})
	VPEXTRD(U8(2), v, Mem{Base: row, Disp: 8})
	ADDQ(Imm(12), row)
	SUBQ(Imm(12), n)
	JNE(LabelRef("loop"))
	RET()
})
