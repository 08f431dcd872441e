package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// palette joins the three bytes of several entries in registers, because
// stores are what limits a loop that writes each entry.
var _ = add("pixels", func() {
	TEXT("paletteAMD64", NOSPLIT, "func(dst, src *byte, n int, table *[256][4]uint8)")
	Pragma("noescape")
	Doc("paletteAMD64 is LookupRGB for n pixels, a multiple of 8 and not 0. The fourth bytes of", "the entries are 0.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	n, table := Load(Param("n"), GP64()), Load(Param("table"), GP64())
	Label("loop")
	var v [8]GPVirtual
	for i := range v {
		v[i] = GP64()
		MOVBLZX(Mem{Base: src, Disp: i}, v[i].As32())
		MOVL(Mem{Base: table, Index: v[i], Scale: 4}, v[i].As32())
	}
	// 8 bytes are 2 2/3 pixels.
	word := func(first, shift int, at int) {
		w := v[first]
		t := GP64()
		if shift > 0 {
			SHRQ(U8(8*shift), w)
		}
		bytes := 3 - shift
		for i := first + 1; bytes < 8; i++ {
			MOVQ(v[i], t)
			SHLQ(U8(8*bytes), t)
			ORQ(t, w)
			bytes += 3
		}
		MOVQ(w, Mem{Base: dst, Disp: at})
	}
	word(0, 0, 0)
	word(2, 2, 8)
	word(5, 1, 16)
	ADDQ(U8(8), src)
	ADDQ(U8(24), dst)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	RET()
})
