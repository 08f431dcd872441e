package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.VP8LReader; a test compares them.
const (
	vp8lIn, vp8lPos, vp8lBits, vp8lN = 0, 24, 32, 40
)

var _ = add("vp8l", vp8lLiterals)

// vp8lLiterals writes kernel.VP8LReader.Literals.
func vp8lLiterals() {
	const first, sub = 8, 1 << 15 // as package prefix and its callers have them
	TEXT("vp8lLiteralsBMI2", NOSPLIT, "func(r *byte, last int, pixels *uint32, n int, green, red, blue, alpha *uint32) int")
	Pragma("noescape")
	Doc("vp8lLiteralsBMI2 is VP8LReader.Literals for n pixels, while the next byte is not after byte", "last, from which on there are 16.")
	r := Load(Param("r"), GP64())
	at := func(disp int) Mem { return Mem{Base: r, Disp: disp} }
	in, last := GP64(), Load(Param("last"), GP64())
	MOVQ(at(vp8lIn), in)
	ADDQ(in, last)
	ADDQ(at(vp8lPos), in)
	bits, n := GP64(), GP64()
	MOVQ(at(vp8lBits), bits)
	MOVQ(at(vp8lN), n)
	dst, end := Load(Param("pixels"), GP64()), Load(Param("n"), GP64())
	LEAQ(Mem{Base: dst, Index: end, Scale: 4}, end)
	tables := [3]Register{Load(Param("green"), GP64()), Load(Param("red"), GP64()), Load(Param("blue"), GP64())}
	pixel, e, t := GP64(), GP64(), GP64()

	refill := func() {
		MOVQ(Mem{Base: in}, t)
		SHLXQ(n, t, t)
		ORQ(t, bits)
		MOVQ(n, t)
		XORQ(U8(63), t)
		SHRQ(U8(3), t)
		ADDQ(t, in)
		ORQ(U8(56), n)
	}
	var rare []func()
	lookups := 0
	// look loads the entry of a symbol.
	look := func(table Register) {
		name := fmt.Sprint(lookups)
		lookups++
		MOVBLZX(bits.As8(), t.As32())
		MOVL(Mem{Base: table, Index: t, Scale: 4}, e.As32())
		TESTL(U32(sub), e.As32())
		JNZ(LabelRef("second" + name))
		Label("found" + name)
		rare = append(rare, func() {
			Label("second" + name)
			u := GP64()
			MOVL(e.As32(), t.As32())
			SHRL(U8(8), t.As32())
			ANDL(U8(15), t.As32())
			MOVQ(bits, u)
			SHRQ(U8(first), u)
			BZHIQ(t, u, u)
			SHRL(U8(16), e.As32())
			ADDQ(e, u)
			MOVL(Mem{Base: table, Index: u, Scale: 4}, e.As32())
			JMP(LabelRef("found" + name))
		})
	}
	take := func() {
		SHRXQ(e, bits, bits)
		MOVL(e.As32(), t.As32())
		ANDL(U8(63), t.As32())
		SUBQ(t, n)
	}
	Label("loop")
	CMPQ(dst, end)
	JAE(LabelRef("done"))
	CMPQ(in, last)
	JA(LabelRef("done"))
	refill()
	look(tables[0])
	CMPL(e.As32(), U32(256<<16))
	JAE(LabelRef("done"))
	take()
	MOVL(e.As32(), pixel.As32())
	SHRL(U8(16), pixel.As32())
	SHLL(U8(8), pixel.As32())
	look(tables[1])
	take()
	ANDL(U32(0xFFFF0000), e.As32())
	ORL(e.As32(), pixel.As32())
	look(tables[2])
	take()
	SHRL(U8(16), e.As32())
	ORL(e.As32(), pixel.As32())
	// Alpha is often the same everywhere, and then takes no bits.
	alpha := Load(Param("alpha"), GP64())
	MOVL(Mem{Base: alpha}, e.As32())
	TESTL(U32(63|sub), e.As32())
	JNZ(LabelRef("alpha"))
	Label("store")
	SHRL(U8(16), e.As32())
	SHLL(U8(24), e.As32())
	ORL(e.As32(), pixel.As32())
	MOVL(pixel.As32(), Mem{Base: dst})
	ADDQ(U8(4), dst)
	JMP(LabelRef("loop"))

	Label("alpha")
	refill()
	look(alpha)
	take()
	JMP(LabelRef("store"))
	for _, f := range rare {
		f()
	}
	Label("done")
	MOVQ(bits, at(vp8lBits))
	MOVQ(n, at(vp8lN))
	SUBQ(at(vp8lIn), in)
	MOVQ(in, at(vp8lPos))
	pixels := Load(Param("pixels"), GP64())
	SUBQ(pixels, dst)
	SHRQ(U8(2), dst)
	Store(dst, ReturnIndex(0))
	RET()
}
