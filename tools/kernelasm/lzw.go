package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.LZW; a test compares them.
const (
	lzwFirst, lzwLength, lzwStart = 0, 40952, 51192

	lzwIn, lzwInEnd, lzwOut, lzwOutEnd, lzwMost        = 92144, 92152, 92160, 92168, 92176
	lzwBit, lzwN, lzwWidth, lzwFree, lzwClear, lzwLast = 92184, 92192, 92200, 92208, 92216, 92224
	lzwLen                                             = 92232
)

// lzwGroup is the number of codes that are taken from 8 bytes.
const lzwGroup = 4

var _ = add("lzw", func() {
	lzw("lzwHighBMI2", true)
	lzw("lzwLowBMI2", false)
})

// lzw writes kernel.LZW.Run for one order of bits. The strings of an image are
// short, and of unpredictable lengths: up to 7 bytes are written without a
// branch on their number.
func lzw(name string, high bool) {
	TEXT(name, NOSPLIT, "func(z *byte)")
	Pragma("noescape")
	Doc(name + " is LZW.Run. z points to an LZW.")
	z := Load(Param("z"), GP64())
	in := func(disp int) Mem { return Mem{Base: z, Disp: disp} }
	entry := func(table int, i Register, size uint8) Mem {
		return Mem{Base: z, Index: i, Scale: size, Disp: table}
	}
	state := func(disp int) Register {
		r := GP64()
		MOVQ(in(disp), r)
		return r
	}
	out, n, bit, width := state(lzwOut), state(lzwN), state(lzwBit), state(lzwWidth)
	free, last, l := state(lzwFree), state(lzwLast), state(lzwLen)
	rest := GP64() // 64-width
	if high {
		MOVQ(U32(64), rest)
		SUBQ(width, rest)
	}
	v, code, e, size, t := GP64(), GP64(), GP64(), GP64(), GP64()

	// group loads the bits of some codes if there is room for them.
	group := func() {
		CMPQ(n, in(lzwOutEnd))
		JA(LabelRef("done"))
		CMPQ(free, in(lzwMost))
		JA(LabelRef("done"))
		MOVQ(bit, t)
		SHRQ(U8(3), t)
		CMPQ(t, in(lzwInEnd))
		JA(LabelRef("done"))
		ADDQ(in(lzwIn), t)
		MOVQ(Mem{Base: t}, v)
		MOVQ(bit, t)
		ANDQ(U8(7), t)
		if high {
			BSWAPQ(v)
			SHLXQ(t, v, v)
		} else {
			SHRXQ(t, v, v)
		}
	}
	// add adds the string before and a byte to the table.
	add := func(afterLong bool, tmp Register) {
		if afterLong {
			MOVQ(last, entry(lzwFirst, free, 8))
		} else {
			MOVBQZX(e.(GPVirtual).As8(), t)
			MOVQ(l, tmp)
			SHLQ(U8(3), tmp)
			SHLXQ(tmp, t, t)
			ORQ(last, t)
			MOVQ(t, entry(lzwFirst, free, 8))
		}
		LEAQ(Mem{Base: l, Disp: 1}, t)
		MOVW(t.(GPVirtual).As16(), entry(lzwLength, free, 2))
		MOVQ(n, t)
		SUBQ(l, t)
		MOVQ(t, entry(lzwStart, free, 8))
		INCQ(free)
	}
	// one writes the string of a code.
	type cold func()
	one := func(id string, afterLong bool) cold {
		if high {
			SHRXQ(rest, v, code)
			SHLXQ(width, v, v)
		} else {
			BZHIQ(width, v, code)
			SHRXQ(width, v, v)
		}
		ADDQ(width, bit)
		CMPQ(code, free)
		JAE(LabelRef("new" + id))
		MOVQ(code, t)
		SUBQ(in(lzwClear), t)
		CMPQ(t, U8(2))
		JB(LabelRef("undo"))
		MOVQ(entry(lzwFirst, code, 8), e)
		MOVWQZX(entry(lzwLength, code, 2), size)
		CMPQ(size, U8(8))
		JAE(LabelRef("long" + id))
		Label("short" + id)
		MOVQ(e, Mem{Base: out, Index: n, Scale: 1})
		add(afterLong, code)
		MOVQ(e, last)
		MOVQ(size, l)
		ADDQ(size, n)
		return func() {
			Comment("The string before and its own first byte.")
			Label("new" + id)
			JA(LabelRef("undo"))
			MOVQ(last, e)
			if !afterLong {
				MOVBQZX(last.(GPVirtual).As8(), t)
				MOVQ(l, size)
				SHLQ(U8(3), size)
				SHLXQ(size, t, t)
				ORQ(t, e)
			}
			LEAQ(Mem{Base: l, Disp: 1}, size)
			CMPQ(size, U8(8))
			JB(LabelRef("short" + id))
			Label("long" + id)
			LEAQ(Mem{Base: n, Index: size, Scale: 1}, t)
			CMPQ(t, in(lzwOutEnd))
			JA(LabelRef("undo"))
			MOVQ(e, Mem{Base: out, Index: n, Scale: 1})
			add(afterLong, v)
			JMP(LabelRef("copy"))
		}
	}
	var rare []cold
	CMPQ(l, U8(8))
	JAE(LabelRef("afterLong"))
	Label("group")
	group()
	for i := range lzwGroup {
		if i == 1 {
			Label("second")
		}
		rare = append(rare, one(fmt.Sprint(i), false))
	}
	JMP(LabelRef("group"))
	for _, f := range rare {
		f()
	}

	Label("copy")
	MOVQ(e, last)
	MOVQ(size, l)
	MOVQ(entry(lzwStart, code, 8), code)
	ADDQ(out, code)
	LEAQ(Mem{Base: out, Index: n, Scale: 1}, v)
	MOVQ(U32(8), e)
	JMP(LabelRef("compare"))
	Label("more")
	MOVQ(Mem{Base: code, Index: e, Scale: 1}, t)
	MOVQ(t, Mem{Base: v, Index: e, Scale: 1})
	ADDQ(U8(8), e)
	Label("compare")
	CMPQ(e, l)
	JB(LabelRef("more"))
	ADDQ(l, n)
	Label("afterLong")
	group()
	f := one("Last", true)
	JMP(LabelRef("second"))
	f()

	Label("undo")
	SUBQ(width, bit)
	Label("done")
	MOVQ(n, in(lzwN))
	MOVQ(bit, in(lzwBit))
	MOVQ(free, in(lzwFree))
	MOVQ(last, in(lzwLast))
	MOVQ(l, in(lzwLen))
	RET()
}
