package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.VP8Reader and VP8Macroblock; a test compares them.
const (
	vp8Buf, vp8Len, vp8Pos, vp8Value, vp8Range, vp8Left64, vp8Ended = 0, 8, 24, 32, 40, 48, 56

	vp8Probs, vp8Quant, vp8Above, vp8Left, vp8Y2, vp8Or, vp8Count, vp8Coef = 0, 8, 16, 24, 40, 48, 56, 88

	vp8RowSize, vp8BandSize, vp8PlaneSize = 12 * 8, 3 * vp8RowSize, 17 * vp8BandSize
)

var _ = add("vp8", vp8Tokens)
var _ = add("vp8", vp8Modes)

// vp8Tokens writes VP8Macroblock.Read. Two things cost time: the chain of
// dependent instructions from one range to the next (multiply, add, subtract,
// count the leading zeros, shift), and mispredicted branches. The range of both
// outcomes of a bit and the next probability of both are therefore computed
// before the branch, so that the next multiplication can start right after it.
func vp8Tokens() {
	table := func(name string, v []uint8) Mem {
		m := GLOBL(name, 8|16)
		for i, b := range v {
			DATA(i, U8(b))
		}
		return m
	}
	// Twice the positions of coefficients in a block.
	zigzag := table("vp8_zigzag", []uint8{0, 2, 8, 16, 10, 4, 6, 12, 18, 24, 26, 20, 14, 22, 28, 30})
	// The positions of the blocks' contexts above and to the left.
	aboveAt := []uint8{8, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7}
	leftAt := []uint8{8, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7}
	// For each block: these positions, those of the next block, and the size of
	// a row if the block is to the left of the next one, whose context to the
	// left is then one that is always 0.
	const none = 15
	var contexts []uint8
	for i := range aboveAt {
		row := [8]uint8{aboveAt[i], leftAt[i]}
		if next := i + 1; next < len(aboveAt) {
			row[2], row[3] = aboveAt[next], leftAt[next]
			if leftAt[i] == leftAt[next] {
				row[3], row[4] = none, vp8RowSize
			}
		}
		contexts = append(contexts, row[:]...)
	}
	places := table("vp8_contexts", contexts)
	// The probabilities of the bits of large values, as VP8Probs has them.
	extra := GLOBL("vp8_extra", 8|16)
	for i, p := range []uint64{
		173, 148, 140, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		176, 155, 140, 135, 0, 0, 0, 0, 0, 0, 0, 0,
		180, 157, 141, 134, 130, 0, 0, 0, 0, 0, 0, 0,
		254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129, 0,
	} {
		DATA(8*i, U64(p<<48))
	}
	vp8Fixed = GLOBL("vp8_fixed", 8|16)
	for i, v := range []uint64{1 << 56, 0xFF << 56, 1<<56 - 1, 0xFF << 48} {
		DATA(8*i, U64(v))
	}

	TEXT("vp8LeadingZeros", NOSPLIT, "func(v uint32) uint32")
	Doc("vp8LeadingZeros returns 31 for 1 unless the processor lacks the instruction.")
	z := GP32()
	LZCNTL(NewParamAddr("v", 0), z)
	Store(z, ReturnIndex(0))
	RET()

	TEXT("vp8ReadBMI2", NOSPLIT, "func(m, r *byte)")
	Pragma("noescape")
	Doc("vp8ReadBMI2 is VP8Macroblock.Read. m and r point to a VP8Macroblock and a VP8Reader.")
	at := func(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }
	mp, block, first, coef := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	// start is that of the plane's probabilities of coefficient first.
	start, steps := AllocLocal(8), AllocLocal(8)
	bitsOr, kind := AllocLocal(8), AllocLocal(8)
	// The next block's probabilities and the first one of them, by whether the
	// current block has coefficients.
	var nextProbs, nextProb [2]Mem
	for i := range nextProbs {
		nextProbs[i], nextProb[i] = AllocLocal(8), AllocLocal(8)
	}
	p, band, n, v := GP64(), GP64(), GP64(), GP64()
	b := newVP8Bits()
	value, span, t, x, r := b.value, b.span, b.t, b.x, b.r
	z0, z1, zero, one := b.z0, b.z1, b.zero, b.one
	// The registers that are free between bits.
	k, s := z0, z1
	prob := func(base Register, k int) Mem { return Mem{Base: base, Disp: 8 * k} }
	bit, load := b.bit, func(from Mem, to reg64) { MOVQ(from, to) }
	// row returns the row of the context in s, in the band that base has.
	row := func(base Op, to reg64) {
		LEAQ(Mem{Base: s, Index: s, Scale: 2}, s)
		SHLQ(U8(5), s)
		ADDQ(base, to)
	}
	Load(Param("m"), t)
	MOVQ(t, mp)
	XORQ(x, x)
	MOVQ(x, bitsOr)
	MOVB(U8(0), at(t, vp8Left+none))
	MOVB(U8(0), at(t, vp8Count))
	MOVQ(x, block)
	MOVQ(x, first)
	MOVQ(at(t, vp8Quant), s)
	MOVQ(at(t, vp8Probs), p)
	ADDQ(U32(vp8PlaneSize), p)
	CMPB(at(t, vp8Y2), U8(0))
	JNE(LabelRef("plane"))

	Label("luma")
	MOVQ(mp, t)
	MOVQ(U32(1), s)
	MOVQ(s, block)
	MOVQ(at(t, vp8Probs), p)
	MOVBQZX(at(t, vp8Y2), x)
	MOVQ(x, first)
	LEAQ(at(p, 3*vp8PlaneSize), r)
	LEAQ(at(p, vp8BandSize), p) // without the first coefficient
	TESTQ(x, x)
	CMOVQEQ(r, p)
	MOVQ(at(t, vp8Quant), s)
	ADDQ(U8(8), s)

	// t is m, p is start, s is steps.
	Label("plane")
	MOVQ(p, start)
	MOVQ(s, steps)
	MOVQ(block, k)
	LEAQ(places, r)
	LEAQ(Mem{Base: r, Index: k, Scale: 8}, r)
	MOVQ(at(t, vp8Above), s)
	MOVBQZX(at(r, 0), x)
	MOVBQZX(Mem{Base: s, Index: x, Scale: 1}, s)
	MOVBQZX(at(r, 1), x)
	MOVBQZX(Mem{Base: t, Index: x, Scale: 1, Disp: vp8Left}, x)
	ADDQ(x, s)
	row(s, p)
	load(prob(p, 0), zero)

	// p has the probabilities of the block, zero the first one.
	Label("block")
	MOVQ(mp, t)
	MOVQ(block, k)
	LEAQ(places, r)
	LEAQ(Mem{Base: r, Index: k, Scale: 8}, r)
	SHLQ(U8(5), k)
	LEAQ(Mem{Base: t, Index: k, Scale: 1, Disp: vp8Coef}, k)
	MOVQ(k, coef)
	MOVQ(start, band)
	MOVQ(first, n)
	MOVQ(at(t, vp8Above), s)
	MOVBQZX(at(r, 2), x)
	MOVBQZX(Mem{Base: s, Index: x, Scale: 1}, s)
	MOVBQZX(at(r, 3), x)
	MOVBQZX(Mem{Base: t, Index: x, Scale: 1, Disp: vp8Left}, x)
	ADDQ(x, s)
	row(band, s)
	MOVQ(s, nextProbs[0])
	load(prob(s, 0), x)
	MOVQ(x, nextProb[0])
	MOVBQZX(at(r, 4), x)
	ADDQ(x, s)
	MOVQ(s, nextProbs[1])
	load(prob(s, 0), x)
	MOVQ(x, nextProb[1])
	b.read(zero, "block_empty", func() {
		MOVQ(nextProb[0], zero)
		load(prob(p, 1), one)
	})
	JMP(LabelRef("nonzero"))

	Label("coefficient")
	b.lazy = true
	b.read(zero, "block_end", func() {
		MOVQ(nextProb[1], zero)
		load(prob(p, 1), one)
	})
	b.lazy = false
	Label("nonzero")
	b.read(one, "next_zero", func() {
		load(prob(band, vp8BandSize/8+1), one)
		load(prob(p, 2), zero)
	})
	ADDQ(U32(vp8BandSize), band)
	b.read(zero, "one", func() { load(prob(p, 3), one) })
	// A larger value.
	bit(one, "two_to_four", prob(p, 4), prob(p, 6))
	bit(one, "five_to_ten", prob(p, 7), prob(p, 8))
	XORQ(v, v)
	b.number(v, one)
	LEAQ(Mem{Base: p, Index: v, Scale: 8}, p)
	load(prob(p, 9), one)
	b.number(v, one)
	MOVQ(v, kind)
	LEAQ(Mem{Base: v, Index: v, Scale: 2}, t)
	LEAQ(extra, p)
	SHLQ(U8(5), t)
	ADDQ(t, p)
	XORQ(v, v)
	Label("extra")
	load(prob(p, 0), one)
	b.number(v, one)
	ADDQ(U8(8), p)
	CMPQ(at(p, 0), U8(0))
	JNE(LabelRef("extra"))
	MOVQ(kind, k)
	MOVQ(U32(8), t)
	SHLXQ(k, t, t)
	LEAQ(Mem{Base: v, Index: t, Scale: 1, Disp: 3}, v)
	JMP(LabelRef("large"))

	b.isZero("five_to_ten")
	b.read(zero, "five_or_six", nil)
	XORQ(v, v)
	b.constant(165, one)
	b.number(v, one)
	b.constant(145, one)
	b.number(v, one)
	ADDQ(U8(7), v)
	JMP(LabelRef("large"))
	b.isZero("five_or_six")
	XORQ(v, v)
	b.constant(159, one)
	b.number(v, one)
	ADDQ(U8(5), v)
	JMP(LabelRef("large"))
	b.isZero("two_to_four")
	b.read(zero, "two", func() { load(prob(p, 5), one) })
	XORQ(v, v)
	b.number(v, one)
	ADDQ(U8(3), v)
	JMP(LabelRef("large"))
	b.isZero("two")
	MOVQ(U32(2), v)
	Label("large")
	LEAQ(at(band, 2*vp8RowSize), p)
	JMP(LabelRef("sign"))

	b.isZero("next_zero")
	INCQ(n)
	ADDQ(U32(vp8BandSize), band)
	MOVQ(band, p)
	CMPQ(n, U8(16))
	JNE(LabelRef("nonzero"))
	MOVQ(nextProb[1], zero)
	JMP(LabelRef("block_done"))

	b.isZero("one")
	MOVQ(U32(1), v)
	LEAQ(at(band, vp8RowSize), p)

	Label("sign")
	load(prob(p, 0), zero)
	MOVQ(steps, k)
	XORQ(t, t)
	TESTQ(n, n)
	SETNE(t.As8())
	MOVLQSX(Mem{Base: k, Index: t, Scale: 4}, t)
	IMULQ(t, v)
	ORQ(v, bitsOr)
	b.ready()
	// The probability is a half: the range is the same but for its lowest bit.
	LEAQ(at(span, 1), r)
	MOVQ(r, x)
	SHRQ(U8(1), x)
	SHLQ(U8(56), x)
	ANDQ(I8(-2), r)
	ANDQ(I8(-2), span)
	MOVQ(value, t)
	SUBQ(x, t)
	CMOVQCC(t, value)
	CMOVQCS(r, span)
	SBBQ(s, s)
	NOTQ(s) // -1 if the value is negative
	ADDQ(value, value)
	XORQ(s, v)
	SUBQ(s, v)
	LEAQ(zigzag, k)
	MOVBQZX(Mem{Base: k, Index: n, Scale: 1}, t)
	MOVQ(coef, k)
	MOVW(v.As16(), Mem{Base: k, Index: t, Scale: 1})
	INCQ(n)
	CMPQ(n, U8(16))
	JNE(LabelRef("coefficient"))
	MOVQ(nextProb[1], zero)
	JMP(LabelRef("block_done"))

	// done ends a block; zero has the next block's first probability.
	done := func(has uint8) {
		MOVQ(mp, t)
		MOVQ(block, k)
		MOVB(n.As8(), Mem{Base: t, Index: k, Scale: 1, Disp: vp8Count})
		LEAQ(places, r)
		MOVBQZX(Mem{Base: r, Index: k, Scale: 8}, x)
		MOVQ(at(t, vp8Above), s)
		MOVB(U8(has), Mem{Base: s, Index: x, Scale: 1})
		MOVBQZX(Mem{Base: r, Index: k, Scale: 8, Disp: 1}, x)
		MOVB(U8(has), Mem{Base: t, Index: x, Scale: 1, Disp: vp8Left})
		MOVQ(nextProbs[has], p)
		INCQ(k)
		MOVQ(k, block)
	}
	b.isZero("block_empty")
	done(0)
	JMP(LabelRef("block_next"))
	b.lazy = true
	b.isZero("block_end")
	b.lazy = false
	Label("block_done")
	done(1)
	Label("block_next")
	CMPQ(k, U8(1))
	JEQ(LabelRef("luma"))
	CMPQ(k, U8(17))
	JEQ(LabelRef("chroma"))
	CMPQ(k, U8(25))
	JNE(LabelRef("block"))

	MOVQ(bitsOr, s)
	MOVQ(s, at(t, vp8Or))
	b.save()
	RET()

	Label("chroma")
	XORQ(s, s)
	MOVQ(s, first)
	MOVQ(at(t, vp8Probs), p)
	ADDQ(U32(2*vp8PlaneSize), p)
	MOVQ(at(t, vp8Quant), s)
	ADDQ(U8(16), s)
	JMP(LabelRef("plane"))

	b.finish()
}

// vp8Fixed holds numbers with 56 bits behind the point: 1, the masks of the
// bits before and behind the point, and the first 8 of the latter.
var vp8Fixed Mem

// vp8Bits writes the reading of bits. The registers t, x, r, z0 and z1 are free
// between the bits.
type vp8Bits struct {
	value, span, low reg64
	t, x, r, z0, z1  reg64
	zero, one        reg64 // the next probability after a bit that is 0 or 1
	reader, src      Mem
	end, stop        Mem

	unit, whole, fraction, behind Mem // vp8Fixed

	lazy  bool
	later []func() // code that is rarely run
}

type reg64 = GPVirtual

// newVP8Bits loads the state of the VP8Reader that parameter r points to.
func newVP8Bits() *vp8Bits {
	b := &vp8Bits{
		value: GP64(), span: GP64(), low: GP64(), t: GP64(), x: GP64(), r: GP64(), z0: GP64(), z1: GP64(),
		zero: GP64(), one: GP64(), reader: AllocLocal(8), src: AllocLocal(8), end: AllocLocal(8), stop: AllocLocal(8),
		unit: vp8Fixed, whole: vp8Fixed.Offset(8), fraction: vp8Fixed.Offset(16), behind: vp8Fixed.Offset(24),
	}
	t, r := b.t, b.r
	at := func(disp int) Mem { return Mem{Base: r, Disp: disp} }
	Load(Param("r"), r)
	MOVQ(r, b.reader)
	MOVQ(at(vp8Buf), b.x)
	MOVQ(at(vp8Len), t)
	ADDQ(b.x, t)
	MOVQ(t, b.end)
	SUBQ(U8(8), t)
	MOVQ(t, b.stop)
	ADDQ(at(vp8Pos), b.x)
	MOVQ(b.x, b.src)
	MOVQ(at(vp8Value), b.value)
	MOVQ(at(vp8Range), b.span)
	INCQ(b.span)
	MOVQ(U32(55), t)
	SUBQ(at(vp8Left64), t)
	BTSQ(t, b.value)
	MOVQ(b.fraction, b.low)
	return b
}

// ready makes sure that there are 8 bits: more than the mark and 7 above it.
func (b *vp8Bits) ready() {
	value, t, r, x := b.value, b.t, b.r, b.x
	name, back := label("refill"), label("ready")
	TESTQ(value, b.low)
	JZ(LabelRef(name))
	Label(back)
	b.later = append(b.later, func() {
		slow, over := label("byte"), label("over")
		Label(name)
		TZCNTQ(value, r)
		BLSRQ(value, value)
		MOVQ(b.src, x)
		CMPQ(x, b.stop)
		JA(LabelRef(slow))
		SUBQ(U8(56), r)
		MOVQ(Mem{Base: x}, t)
		BSWAPQ(t)
		SHRQ(U8(7), t) // 7 bytes, and the mark
		ORQ(U8(1), t)
		SHLXQ(r, t, t)
		ORQ(t, value)
		ADDQ(U8(7), x)
		MOVQ(x, b.src)
		JMP(LabelRef(back))
		Label(slow)
		SUBQ(U8(8), r)
		XORQ(t, t)
		CMPQ(x, b.end)
		JAE(LabelRef(over))
		MOVBQZX(Mem{Base: x}, t)
		INCQ(x)
		MOVQ(x, b.src)
		LEAQ(Mem{Base: t, Index: t, Scale: 1, Disp: 1}, t)
		SHLXQ(r, t, t)
		ORQ(t, value)
		JMP(LabelRef(back))
		Label(over)
		MOVQ(b.reader, x)
		MOVB(U8(1), Mem{Base: x, Disp: vp8Ended})
		INCQ(t)
		SHLXQ(r, t, t)
		ORQ(t, value)
		JMP(LabelRef(back))
	})
}

// load loads a probability of 8 bits, as divide takes it.
func (b *vp8Bits) load(from Mem, to reg64) {
	MOVBQZX(from, to)
	RORXQ(U8(64-48), to, to)
}

// constant is load for a constant.
func (b *vp8Bits) constant(prob int, to reg64) { MOVQ(U64(uint64(prob)<<48), to) }

// divide divides the range. t becomes the part that means 0, which is
// (range-1)*prob/256 + 1, with a fraction. z0 and z1 become the shifts after
// which t and the other part have 8 bits, x and r these parts after it. The bit
// is 0 if the carry flag is set.
func (b *vp8Bits) divide(prob reg64, before func()) {
	t, r, x := b.t, b.r, b.x
	b.ready()
	// The other part is the range times 256-prob. Its fraction is such that
	// both have the sum of the range and the largest fraction.
	MOVQ(b.unit, r)
	SUBQ(prob, r)
	MOVQ(prob, t)
	IMULQ(b.span, t)
	ADDQ(r, t)
	MOVQ(b.behind, x)
	SUBQ(r, x)
	IMULQ(b.span, r)
	ADDQ(x, r)
	if !b.lazy {
		LZCNTQ(t, b.z0)
		MOVQ(t, x)
		SHRQ(U8(56), x)
		SHLXQ(b.z0, x, b.span)
	}
	LZCNTQ(r, b.z1)
	SHRQ(U8(56), r)
	SHLXQ(b.z1, r, r)
	if before != nil {
		before()
	}
	MOVQ(b.value, x)
	ORQ(b.low, x)
	CMPQ(x, t)
}

// read reads a bit and jumps if it is 0; the code there starts with isZero.
// before runs before the branch. It must not change the bits' registers.
func (b *vp8Bits) read(prob reg64, to string, before func()) {
	b.divide(prob, before)
	JB(LabelRef(to))
	ANDQ(b.whole, b.t)
	SUBQ(b.t, b.value)
	MOVQ(b.r, b.span)
	SHLXQ(b.z1, b.value, b.value)
}

// isZero begins the code to which read jumps.
func (b *vp8Bits) isZero(name string) {
	Label(name)
	if b.lazy {
		LZCNTQ(b.t, b.z0)
		SHRQ(U8(56), b.t)
		SHLXQ(b.z0, b.t, b.span)
	}
	SHLXQ(b.z0, b.value, b.value)
}

// bit is read with the next probability of both outcomes, as VP8Probs has them.
func (b *vp8Bits) bit(prob reg64, to string, zero, one Mem) {
	b.read(prob, to, func() {
		MOVQ(zero, b.zero)
		MOVQ(one, b.one)
	})
}

// number reads a bit to v's end, without a branch.
func (b *vp8Bits) number(v Register, prob reg64) {
	b.divide(prob, nil)
	CMOVQCC(b.r, b.span)
	CMOVQCC(b.z1, b.z0)
	SBBQ(b.r, b.r) // -1 if the bit is 0
	LEAQ(Mem{Base: v, Index: v, Scale: 1, Disp: 1}, v)
	ADDQ(b.r, v)
	ANDNQ(b.whole, b.r, b.r)
	ANDQ(b.t, b.r)
	SUBQ(b.r, b.value)
	SHLXQ(b.z0, b.value, b.value)
}

// save stores the state.
func (b *vp8Bits) save() {
	at := func(disp int) Mem { return Mem{Base: b.t, Disp: disp} }
	MOVQ(b.reader, b.t)
	BLSRQ(b.value, b.x)
	MOVQ(b.x, at(vp8Value))
	TZCNTQ(b.value, b.value)
	MOVQ(U32(55), b.x)
	SUBQ(b.value, b.x)
	MOVQ(b.x, at(vp8Left64))
	DECQ(b.span)
	MOVQ(b.span, at(vp8Range))
	MOVQ(b.src, b.x)
	SUBQ(at(vp8Buf), b.x)
	MOVQ(b.x, at(vp8Pos))
}

// finish writes the code that is rarely run.
func (b *vp8Bits) finish() {
	for _, f := range b.later {
		f()
	}
}

// vp8Modes writes VP8Modes.
func vp8Modes() {
	function("vp8ModesBMI2", "func(r *byte, probs *[9]uint8, above, left *[4]uint8, modes *[16]uint8)")
	Doc("vp8ModesBMI2 is VP8Modes. r points to a VP8Reader.")
	b := newVP8Bits()
	// row has the probabilities of the next block by the mode to its left, p
	// those of the current block. No register is left for the rest.
	p, row, i, v := GP64(), GP64(), GP64(), GP64()
	place := func(n, to reg64, size int) { // to += n*size
		if size == 90 {
			LEAQ(Mem{Base: n, Index: n, Scale: 4}, n)
			SHLQ(U8(1), n)
		}
		LEAQ(Mem{Base: n, Index: n, Scale: 8}, n)
		ADDQ(n, to)
	}
	XORQ(i, i)
	Load(Param("probs"), p)
	Load(Param("above"), b.x)
	MOVBQZX(Mem{Base: b.x}, b.t)
	place(b.t, p, 90)
	Load(Param("left"), b.x)
	MOVBQZX(Mem{Base: b.x}, b.t)
	place(b.t, p, 9)
	prob := func(n int) Mem { return Mem{Base: p, Disp: n} }
	set := func(n int) {
		LEAQ(Mem{Base: row, Disp: 9 * n}, p)
		MOVQ(U32(n), v)
		JMP(LabelRef("mode"))
	}
	// add adds a bit to n.
	add := func(n int) {
		XORQ(v, v)
		b.number(v, b.one)
		ADDQ(U8(n), v)
		LEAQ(Mem{Base: v, Index: v, Scale: 8}, p)
		ADDQ(row, p)
		JMP(LabelRef("mode"))
	}

	Label("block")
	Load(Param("probs"), row)
	Load(Param("above"), b.x)
	LEAQ(Mem{Base: i, Disp: 1}, b.t)
	ANDQ(U8(3), b.t)
	MOVBQZX(Mem{Base: b.x, Index: b.t, Scale: 1}, b.t)
	place(b.t, row, 90)
	b.load(prob(0), b.one)
	b.read(b.one, "dc", func() { b.load(prob(1), b.one) })
	b.read(b.one, "true", func() { b.load(prob(2), b.one) })
	b.read(b.one, "vertical", func() { b.load(prob(3), b.one) })
	b.read(b.one, "first", func() {
		b.load(prob(4), b.zero)
		b.load(prob(6), b.one)
	})
	b.read(b.one, "left_down", func() { b.load(prob(7), b.one) })
	b.read(b.one, "vertical_left", func() { b.load(prob(8), b.one) })
	add(8)
	b.isZero("dc")
	set(0)
	b.isZero("true")
	set(1)
	b.isZero("vertical")
	set(2)
	b.isZero("first")
	b.read(b.zero, "horizontal", func() { b.load(prob(5), b.one) })
	add(4)
	b.isZero("horizontal")
	set(3)
	b.isZero("left_down")
	set(6)
	b.isZero("vertical_left")
	set(7)

	Label("mode")
	Load(Param("modes"), b.t)
	MOVB(v.As8(), Mem{Base: b.t, Index: i, Scale: 1})
	MOVQ(i, b.t)
	ANDQ(U8(3), b.t)
	Load(Param("above"), b.x)
	MOVB(v.As8(), Mem{Base: b.x, Index: b.t, Scale: 1})
	INCQ(i)
	TESTQ(U32(3), i)
	JNZ(LabelRef("block"))
	// The last block of a row.
	MOVQ(i, b.t)
	SHRQ(U8(2), b.t)
	Load(Param("left"), b.x)
	MOVB(v.As8(), Mem{Base: b.x, Index: b.t, Scale: 1, Disp: -1})
	CMPQ(i, U8(16))
	JEQ(LabelRef("done"))
	MOVBQZX(Mem{Base: b.x, Index: b.t, Scale: 1}, b.t)
	MOVQ(row, p)
	place(b.t, p, 9)
	JMP(LabelRef("block"))
	Label("done")
	b.save()
	RET()
	b.finish()
}
