package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("pixels", copyRows)

// copyRows copies 128 bytes at a time, and the last 128 of a row again in place
// of a loop for the rest.
func copyRows() {
	function("copyRowsAVX2", "func(dst *byte, dstStep int, src *byte, srcStep int, n int, rows int)")
	Doc("copyRowsAVX2 copies rows of n bytes, 128 or more. There is at least one row.")
	dst, dstStep := Load(Param("dst"), GP64()), Load(Param("dstStep"), GP64())
	src, srcStep := Load(Param("src"), GP64()), Load(Param("srcStep"), GP64())
	n, rows := Load(Param("n"), GP64()), Load(Param("rows"), GP64())
	last := GP64()
	LEAQ(Mem{Base: n, Disp: -128}, last)
	Label("row")
	x, nextSrc, nextDst := GP64(), GP64(), GP64()
	XORQ(x, x)
	LEAQ(Mem{Base: src, Index: srcStep, Scale: 1}, nextSrc)
	LEAQ(Mem{Base: dst, Index: dstStep, Scale: 1}, nextDst)
	move := func() {
		var v [4]VecVirtual
		for i := range v {
			v[i] = YMM()
			VMOVDQU(Mem{Base: src, Index: x, Scale: 1, Disp: 32 * i}, v[i])
		}
		for i := range v {
			VMOVDQU(v[i], Mem{Base: dst, Index: x, Scale: 1, Disp: 32 * i})
		}
	}
	Label("loop")
	move()
	ADDQ(U8(128), x)
	CMPQ(x, last)
	JLE(LabelRef("loop"))
	MOVQ(last, x)
	move()
	MOVQ(nextSrc, src)
	MOVQ(nextDst, dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
