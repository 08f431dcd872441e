package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

var _ = add("chain", func() {
	chain("chainFMA", true)
	chain("chainAVX2", false)
})

// chain computes sums of products as chains, of 32 outputs at once.
func chain(name string, fused bool) {
	const vectors = 4
	function(name, "func(dst *float32, n int, x *float32, at *int, k *float32, taps int)")
	Doc(name+" computes dst[i] as the sum of x[at[j]+i]*k[j] over j, the first product first,", "for n outputs, a multiple of 32 and not 0. taps is at least 1.")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	x, at := Load(Param("x"), GP64()), Load(Param("at"), GP64())
	k, taps := Load(Param("k"), GP64()), Load(Param("taps"), GP64())
	var sum [vectors]VecVirtual
	for i := range sum {
		sum[i] = YMM()
	}
	j, from := GP64(), GP64()
	Label("outputs")
	for _, s := range sum {
		VXORPS(s, s, s)
	}
	XORQ(j, j)
	Label("tap")
	w := YMM()
	MOVQ(Mem{Base: at, Index: j, Scale: 8}, from)
	VBROADCASTSS(Mem{Base: k, Index: j, Scale: 4}, w)
	for i, s := range sum {
		m := Mem{Base: x, Index: from, Scale: 4, Disp: 32 * i}
		if fused {
			VFMADD231PS(m, w, s)
			continue
		}
		p := YMM()
		VMULPS(m, w, p)
		VADDPS(p, s, s)
	}
	INCQ(j)
	CMPQ(j, taps)
	JNE(LabelRef("tap"))
	for i, s := range sum {
		VMOVUPS(s, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(32*vectors), dst)
	ADDQ(U8(32*vectors), x)
	SUBQ(U8(8*vectors), n)
	JNZ(LabelRef("outputs"))
	VZEROUPPER()
	RET()
}
