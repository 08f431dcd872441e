package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("lookup", func() {
	for _, stages := range []int{1, 2} {
		linearPlanes(stages)
		linearRow(stages)
	}
})

// terms is the number of vectors of kernel.linearTerms.
const terms = 5

// compute returns the function of eight integers. term returns one of their
// terms.
func compute(stages int, idx VecVirtual, term func(i int) Op) VecVirtual {
	times := func(v VecVirtual, high int) VecVirtual {
		o := YMM()
		VMULPS(term(high+1), v, o)
		VFMADD231PS(term(high), v, o)
		return o
	}
	v := YMM()
	VCVTDQ2PS(idx, v)
	if stages == 2 {
		v = times(v, 0)
	}
	VSUBPS(term(2), v, v)
	return times(v, 3)
}

// termsAt returns the terms of vector i. With one stage, those of three vectors
// fit into registers.
func termsAt(stages int, p Register, i int) func(k int) Op {
	var l [terms]Op
	for k := range l {
		m := Mem{Base: p, Disp: 32 * (terms*i + k)}
		l[k] = m
		if stages == 1 && k >= 2 {
			r := YMM()
			VMOVUPS(m, r)
			l[k] = r
		}
	}
	return func(k int) Op { return l[k] }
}

// linearPlanes steps by eight pixels. The last step of a row goes back to
// pixels that are already computed unless the width is a multiple of eight.
func linearPlanes(stages int) {
	const ch = 3
	name := fmt.Sprintf("linearPlanes%dFMA", stages)
	spread := GLOBL(name+"_spread", 8|16) // as that of lookupCHW
	for c := range ch {
		for i := range 8 {
			at := i*ch + c
			if i >= 4 {
				at -= 8*ch - 16
			}
			DATA(32*c+4*i, U32(0x80808000|uint32(at)))
		}
	}
	function(name, "func(dst *byte, plane int, src *byte, stride, width, height int, terms *float32)")
	Doc(fmt.Sprintf("%s computes height rows of width pixels of %d channels, of both at least 1", name, ch),
		"and 8. The rows of src are stride bytes apart; those of a plane follow each other.", "plane is in bytes.")
	d := planes("dst", ch)
	src, stride := Load(Param("src"), GP64()), Load(Param("stride"), GP64())
	width, height := Load(Param("width"), GP64()), Load(Param("height"), GP64())
	p := Load(Param("terms"), GP64())
	eight := GP64()
	MOVQ(U32(8), eight)
	var m [ch]VecVirtual
	for c := range m {
		m[c] = YMM()
		VMOVDQU(spread.Offset(32*c), m[c])
	}
	var term [ch]func(int) Op
	for c := range term {
		term[c] = termsAt(stages, p, c)
	}
	s, left, step := GP64(), GP64(), GP64()
	Label("row")
	MOVQ(src, s)
	MOVQ(width, left)
	Label("loop")
	v := lanes(s, 0, 8*ch-16)
	for c := range ch {
		idx := YMM()
		VPSHUFB(m[c], v, idx)
		VMOVUPS(compute(stages, idx, term[c]), Mem{Base: d[c]})
	}
	SUBQ(U8(8), left)
	JZ(LabelRef("end"))
	MOVQ(left, step) // min(left, 8)
	CMPQ(left, eight)
	CMOVQGT(eight, step)
	CMOVQLT(eight, left)
	for c := range d {
		LEAQ(Mem{Base: d[c], Index: step, Scale: 4}, d[c])
	}
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step)
	ADDQ(step, s)
	JMP(LabelRef("loop"))
	Label("end")
	for c := range d {
		ADDQ(U8(32), d[c])
	}
	ADDQ(stride, src)
	DECQ(height)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func linearRow(stages int) {
	name := fmt.Sprintf("linearRow%dFMA", stages)
	function(name, "func(dst, src *byte, n int, terms *float32)")
	Doc(name+" computes n elements, a multiple of 24 and not 0. There are terms for each", "vector of three.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, p := Load(Param("n"), GP64()), Load(Param("terms"), GP64())
	var term [3]func(int) Op
	for i := range term {
		term[i] = termsAt(stages, p, i)
	}
	Label("loop")
	for i := range 3 {
		idx := YMM()
		VPMOVZXBD(Mem{Base: src, Disp: 8 * i}, idx)
		VMOVUPS(compute(stages, idx, term[i]), Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(24), src)
	ADDQ(U8(96), dst)
	SUBQ(U8(24), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
