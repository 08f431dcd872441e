package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("pixels", func() {
	transpose(3)
	transpose(4)
})

// fourRows returns the addresses of four rows from first on, step apart.
func fourRows(first, step, step3 Register) [4]Mem {
	return [4]Mem{{Base: first}, {Base: first, Index: step, Scale: 1}, {Base: first, Index: step, Scale: 2}, {Base: first, Index: step3, Scale: 1}}
}

// transpose writes the transposition of four columns of src. Each lane of 128
// bits holds four rows of them.
func transpose(px int) {
	name := fmt.Sprintf("transpose%dAVX2", px)
	signature := "func(dst *byte, dstStep int, src *byte, srcStep int, n int"
	doc := fmt.Sprintf("%s writes four rows of n pixels of %d bytes, a multiple of 8 and not 0, from n rows of src.", name, px)
	if px == 3 {
		function(name, signature+", order *[16]uint8)")
		Doc(doc, "order moves the pixels within 16 bytes of src to dwords.")
	} else {
		function(name, signature+")")
		Doc(doc)
	}
	times3 := func(step Register) Register {
		r := GP64()
		LEAQ(Mem{Base: step, Index: step, Scale: 2}, r)
		return r
	}
	dst, dstStep := Load(Param("dst"), GP64()), Load(Param("dstStep"), GP64())
	src, srcStep := Load(Param("src"), GP64()), Load(Param("srcStep"), GP64())
	n := Load(Param("n"), GP64())
	low, high := src, GP64()
	srcStep3 := times3(srcStep)
	LEAQ(Mem{Base: low, Index: srcStep, Scale: 4}, high)
	from, fromHigh := fourRows(low, srcStep, srcStep3), fourRows(high, srcStep, srcStep3)
	to := fourRows(dst, dstStep, times3(dstStep))
	var spread, narrow, join VecVirtual
	if px == 3 {
		spread, narrow, join = YMM(), YMM(), YMM()
		VBROADCASTI128(Mem{Base: Load(Param("order"), GP64())}, spread)
		VMOVDQU(bytesOf("transpose3_narrow", 32, twice(func(i int) int {
			if i >= 12 {
				return -1
			}
			return i/3*4 + i%3
		})), narrow)
		m := GLOBL("transpose3_join", 8|16)
		for i, v := range []uint32{0, 1, 2, 4, 5, 6, 7, 7} {
			DATA(4*i, U32(v))
		}
		VMOVDQU(m, join)
	}
	Label("loop")
	var v [4]VecVirtual
	for i := range v {
		v[i] = YMM()
		VMOVDQU(from[i], v[i].AsX())
		VINSERTI128(U8(1), fromHigh[i], v[i], v[i])
		if px == 3 {
			VPSHUFB(spread, v[i], v[i])
		}
	}
	LEAQ(Mem{Base: low, Index: srcStep, Scale: 8}, low)
	LEAQ(Mem{Base: high, Index: srcStep, Scale: 8}, high)
	a, b := unpack(lowDwords, v[0], v[1]), unpack(lowDwords, v[2], v[3])
	c, d := unpack(highDwords, v[0], v[1]), unpack(highDwords, v[2], v[3])
	for i, o := range []VecVirtual{unpack(lowQwords, a, b), unpack(highQwords, a, b), unpack(lowQwords, c, d), unpack(highQwords, c, d)} {
		if px == 4 {
			VMOVDQU(o, to[i])
			continue
		}
		VPSHUFB(narrow, o, o)
		VPERMD(o, join, o)
		VMOVDQU(o.AsX(), to[i])
		rest, end := XMM(), to[i]
		VEXTRACTI128(U8(1), o, rest)
		end.Disp += 16
		VMOVQ(rest, end)
	}
	ADDQ(U8(8*px), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
