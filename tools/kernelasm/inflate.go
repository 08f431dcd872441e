package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.Inflate; a test compares them.
const (
	inflateBits, inflateN, inflateIn, inflateLast, inflateOut, inflateFull = 0, 8, 16, 24, 32, 40
	inflateBase, inflateLit, inflateDist                                   = 48, 56, 64

	inflateLiterals = 4 * 4096 // in kernel.InflateLit
)

var _ = add("inflate", inflate)

// inflate writes kernel.Inflate.Run. The entry of the next symbol is loaded
// before a literal is written or a match is copied, from bits that are left, so
// that the next bits of the input are not waited for. How many bits are left
// depends on the data, so that a branch on them would often be predicted wrong:
// the branches are only on numbers that are rarely too small.
func inflate() {
	const other, special = 1 << 15, 1<<14 | 1<<13
	// Distances below 16 repeat a pattern: 16 bytes of it, and how many of them
	// are whole patterns.
	pattern := GLOBL("inflate_pattern", 8|16)
	for d := range 16 {
		for i := range 16 {
			DATA(16*d+i, U8(uint8(i%max(d, 1))))
		}
	}
	whole := GLOBL("inflate_whole", 8|16)
	for d := range 16 {
		DATA(d, U8(uint8(16-16%max(d, 1))))
	}

	function("inflateAVX2", "func(z *byte)")
	Doc("inflateAVX2 is Inflate.Run. z points to an Inflate.")
	z := Load(Param("z"), GP64())
	state := func(disp int) GPVirtual {
		r := GP64()
		MOVQ(Mem{Base: z, Disp: disp}, r)
		return r
	}
	in, out := state(inflateIn), state(inflateOut)
	// Of n only the lowest byte is the number of bits.
	bits, n, lit, dist := state(inflateBits), state(inflateN), state(inflateLit), state(inflateDist)
	e, t, u, v, d, x, y := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	local := func(disp int) Mem {
		m := AllocLocal(8)
		MOVQ(Mem{Base: z, Disp: disp}, t)
		MOVQ(t, m)
		return m
	}
	base, last, full := local(inflateBase), local(inflateLast), local(inflateFull)

	refill := func() {
		MOVQ(Mem{Base: in}, t)
		SHLXQ(n, t, t)
		ORQ(t, bits)
		MOVQ(n, t)
		SHRQ(U8(3), t)
		ANDQ(U8(7), t)
		SUBQ(t, in)
		ADDQ(U8(7), in)
		ORQ(U8(56), n)
	}
	room := func() {
		CMPQ(in, last)
		JA(LabelRef("done"))
		CMPQ(out, full)
		JAE(LabelRef("done"))
		refill()
	}
	look := func(u GPVirtual) {
		MOVQ(bits, u)
		ANDQ(U32(2047), u)
		MOVL(Mem{Base: lit, Index: u, Scale: 4}, e.As32())
	}
	// skip takes an entry's bits.
	skip := func(e GPVirtual) {
		SHRXQ(e, bits, bits)
		SUBQ(e, n)
	}

	Label("symbol")
	room()
	look(u)
	JMP(LabelRef("literals"))
	Label("next")
	room()
	Label("literals")
	for k := range 4 { // 56 bits have four entries, and the next one's index
		TESTL(e.As32(), e.As32())
		if k < 2 { // 45 bits: first entries of a length and a distance have 37
			JNS(LabelRef("match"))
		} else {
			JNS(LabelRef("late"))
		}
		skip(e)
		MOVL(e.As32(), t.As32())
		look(u)
		SHRL(U8(8), t.As32())
		MOVW(t.As16(), Mem{Base: out})
		SHRL(U8(16), t.As32())
		ANDL(U8(3), t.As32())
		ADDQ(t, out)
	}
	JMP(LabelRef("next"))

	Label("late")
	CMPQ(in, last)
	JA(LabelRef("done"))
	refill()
	Label("match")
	TESTL(U32(other), e.As32())
	JNZ(LabelRef("other"))
	Label("length")
	// The literal before a length, or a byte that the match overwrites.
	MOVQ(bits, u)
	ANDQ(U32(2047), u)
	MOVBLZX(Mem{Base: lit, Index: u, Scale: 1, Disp: inflateLiterals}, u.As32())
	MOVB(u.As8(), Mem{Base: out})
	// value returns the value of an entry in to. It changes x.
	value := func(e, bits, to GPVirtual) {
		BZHIQ(e, bits, to)
		MOVL(e.As32(), x.As32())
		SHRL(U8(8), x.As32())
		SHRXQ(x, to, to)
		SHRL(U8(8), x.As32())
		ADDQ(x, to)
	}
	value(e, bits, t)
	ANDL(U32(511), t.As32())
	SHRXQ(e, bits, v)
	MOVBQZX(v.As8(), u)
	MOVL(Mem{Base: dist, Index: u, Scale: 4}, d.As32())
	TESTL(U32(other), d.As32())
	JNZ(LabelRef("far"))
	Label("distance")
	value(d, v, u)
	MOVL(e.As32(), y.As32())
	SHRL(U8(30), y.As32()) // 1 after a literal
	ADDQ(out, y)
	MOVQ(y, x)
	SUBQ(u, x)
	CMPQ(x, base)
	JB(LabelRef("done"))
	MOVQ(y, out)
	SHRXQ(d, v, bits)
	SUBQ(e, n)
	SUBQ(d, n)
	ADDQ(out, t) // the end
	look(d)
	s := XMM()
	VMOVDQU(Mem{Base: x}, s)
	CMPQ(u, U8(16))
	JB(LabelRef("pattern"))
	Label("copy")
	VMOVDQU(s, Mem{Base: out})
	ADDQ(U8(16), out)
	ADDQ(U8(16), x)
	CMPQ(out, t)
	JAE(LabelRef("copied"))
	VMOVDQU(Mem{Base: x}, s)
	JMP(LabelRef("copy"))
	Label("pattern")
	LEAQ(whole, x)
	MOVBQZX(Mem{Base: x, Index: u, Scale: 1}, d)
	SHLQ(U8(4), u)
	LEAQ(pattern, x)
	VPSHUFB(Mem{Base: x, Index: u, Scale: 1}, s, s)
	Label("repeat")
	VMOVDQU(s, Mem{Base: out})
	ADDQ(d, out)
	CMPQ(out, t)
	JB(LabelRef("repeat"))
	Label("copied")
	MOVQ(t, out)
	CMPB(n.As8(), U8(11))
	JAE(LabelRef("next"))
	JMP(LabelRef("symbol")) // e was looked up with too few bits

	// second looks an entry of a second table up.
	second := func(e, bits GPVirtual, first, size int, table Register) {
		MOVL(e.As32(), x.As32())
		SHRL(U8(8), x.As32())
		ANDL(U8(15), x.As32())
		MOVQ(bits, u)
		SHRQ(U8(uint8(first)), u)
		BZHIQ(x, u, u)
		SHRL(U8(16), e.As32())
		ADDQ(e, u)
		ANDQ(U32(uint32(size-1)), u)
		MOVL(Mem{Base: table, Index: u, Scale: 4}, e.As32())
	}
	Label("other")
	TESTL(U32(special), e.As32())
	JNZ(LabelRef("done"))
	second(e, bits, 11, 4096, lit)
	TESTL(e.As32(), e.As32())
	JS(LabelRef("long"))
	TESTL(U32(other), e.As32())
	JZ(LabelRef("length"))
	JMP(LabelRef("done"))
	Label("long") // a literal
	skip(e)
	SHRL(U8(8), e.As32())
	MOVB(e.As8(), Mem{Base: out})
	INCQ(out)
	JMP(LabelRef("symbol"))
	Label("far")
	TESTL(U32(special), d.As32())
	JNZ(LabelRef("done"))
	MOVQ(n, x)
	SUBQ(e, x)
	CMPB(x.As8(), U8(28))
	JB(LabelRef("fill"))
	second(d, v, 8, 512, dist)
	TESTL(U32(other), d.As32())
	JZ(LabelRef("distance"))
	JMP(LabelRef("done"))
	Label("fill")
	CMPQ(in, last)
	JA(LabelRef("done"))
	refill()
	JMP(LabelRef("length"))

	Label("done")
	Load(Param("z"), t)
	MOVQ(in, Mem{Base: t, Disp: inflateIn})
	MOVQ(out, Mem{Base: t, Disp: inflateOut})
	MOVQ(bits, Mem{Base: t, Disp: inflateBits})
	ANDQ(U8(63), n)
	MOVQ(n, Mem{Base: t, Disp: inflateN})
	RET()
}
