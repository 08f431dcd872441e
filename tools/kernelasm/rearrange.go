package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("color", func() {
	function("rearrangeSIMD", "func(dst, src *byte, n int, order, fill *[16]uint8, from, to int)")
	Doc("rearrangeSIMD permutes 16 bytes by order and adds fill, n times, an even number and", "not 0. Each time it moves src by from and dst by to bytes.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	order, fill := YMM(), YMM()
	VBROADCASTI128(Mem{Base: Load(Param("order"), GP64())}, order)
	VBROADCASTI128(Mem{Base: Load(Param("fill"), GP64())}, fill)
	from, to := Load(Param("from"), GP64()), Load(Param("to"), GP64())
	Label("loop")
	v, hi := YMM(), XMM()
	VMOVDQU(Mem{Base: src}, v.AsX())
	VINSERTI128(U8(1), Mem{Base: src, Index: from, Scale: 1}, v, v)
	VPSHUFB(order, v, v)
	VPOR(fill, v, v)
	VEXTRACTI128(U8(1), v, hi)
	VMOVDQU(v.AsX(), Mem{Base: dst})
	VMOVDQU(hi, Mem{Base: dst, Index: to, Scale: 1})
	LEAQ(Mem{Base: src, Index: from, Scale: 2}, src)
	LEAQ(Mem{Base: dst, Index: to, Scale: 2}, dst)
	SUBQ(U8(2), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()

	function("rearrangeVBMI", "func(dst, src *byte, n int, order, fill *[64]uint8, keep uint64, from, to int)")
	Doc("rearrangeVBMI is rearrangeSIMD for 64 bytes, of which it sets those to 0 that are not in", "keep before it adds fill.")
	dst, src = Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n = Load(Param("n"), GP64())
	order, fill = ZMM(), ZMM()
	VMOVDQU64(Mem{Base: Load(Param("order"), GP64())}, order)
	VMOVDQU64(Mem{Base: Load(Param("fill"), GP64())}, fill)
	keep := K()
	KMOVQ(Load(Param("keep"), GP64()), keep)
	from, to = Load(Param("from"), GP64()), Load(Param("to"), GP64())
	Label("loop")
	for i := range 2 {
		v := ZMM()
		if i == 0 {
			VPERMB_Z(Mem{Base: src}, order, keep, v)
			VPORQ(fill, v, v)
			VMOVDQU64(v, Mem{Base: dst})
			continue
		}
		VPERMB_Z(Mem{Base: src, Index: from, Scale: 1}, order, keep, v)
		VPORQ(fill, v, v)
		VMOVDQU64(v, Mem{Base: dst, Index: to, Scale: 1})
	}
	LEAQ(Mem{Base: src, Index: from, Scale: 2}, src)
	LEAQ(Mem{Base: dst, Index: to, Scale: 2}, dst)
	SUBQ(U8(2), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()

	rearrangeWhole()
})

// rearrangeWhole permutes the bytes of pixels that keep their size. Every byte
// of a lane comes from the two lanes that start shift bytes before and after
// it, so whole vectors are written; their masks repeat after 96 bytes.
//
// dst and src are often equally far from the start of a page. A load would then
// wait for an earlier store whose address has the same low bits, so 96 bytes
// are stored after the next 96 are loaded.
func rearrangeWhole() {
	function("rearrangeWholeAVX2", "func(dst, src *byte, n int, masks *[192]uint8, shift int)")
	Doc("rearrangeWholeAVX2 permutes n times 96 bytes, n not 0. masks has two vectors for each", "32 bytes. It reads shift bytes before and after those of src.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, masks := Load(Param("n"), GP64()), Load(Param("masks"), GP64())
	shift := Load(Param("shift"), GP64())
	after := GP64()
	LEAQ(Mem{Base: src, Index: shift, Scale: 1}, after)
	SUBQ(shift, src)
	var m [6]VecVirtual
	for i := range m {
		m[i] = YMM()
		VMOVDQU(Mem{Base: masks, Disp: 32 * i}, m[i])
	}
	load := func() (v [3]VecVirtual) {
		for i := range v {
			b := YMM()
			v[i] = YMM()
			VMOVDQU(Mem{Base: src, Disp: 32 * i}, v[i])
			VMOVDQU(Mem{Base: after, Disp: 32 * i}, b)
			VPSHUFB(m[2*i], v[i], v[i])
			VPSHUFB(m[2*i+1], b, b)
			VPOR(v[i], b, v[i])
		}
		ADDQ(U8(96), src)
		ADDQ(U8(96), after)
		return v
	}
	store := func(v [3]VecVirtual) {
		for i := range v {
			VMOVDQU(v[i], Mem{Base: dst, Disp: 32 * i})
		}
	}
	v := load()
	JMP(LabelRef("next"))
	Label("loop")
	next := load()
	store(v)
	for i := range v {
		VMOVDQA(next[i], v[i])
	}
	ADDQ(U8(96), dst)
	Label("next")
	DECQ(n)
	JNZ(LabelRef("loop"))
	store(v)
	VZEROUPPER()
	RET()
}
