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

	vp8PlaneSize = 17 * 48
)

var _ = add("vp8", vp8Tokens)
var _ = add("vp8", vp8Modes)

// vp8Tokens writes VP8Macroblock.Read. Its cost is the chain of dependent
// instructions from one range to the next: multiply, shift, count the leading
// zeros, shift. The range is therefore kept in the highest byte of 32 bits,
// where a shift by the number of leading zeros puts it. The zeros of a part of
// the range are counted before it is shifted to its place.
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
	aboveAt := table("vp8_above", []uint8{8, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7})
	leftAt := table("vp8_left", []uint8{8, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7})
	// The probabilities of the bits of large values, 12 bytes each.
	extra := table("vp8_extra", []uint8{
		173, 148, 140, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		176, 155, 140, 135, 0, 0, 0, 0, 0, 0, 0, 0,
		180, 157, 141, 134, 130, 0, 0, 0, 0, 0, 0, 0,
		254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129, 0,
	})

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
	mp, block, first := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	planeProbs, steps := AllocLocal(8), AllocLocal(8)
	bitsOr, kind := AllocLocal(8), AllocLocal(8)
	p, band, n, coef, v := GP64(), GP64(), GP64(), GP64(), GP64()
	b := newVP8Bits()
	value, span, left, t, s, x, r, k := b.value, b.span, b.left, b.t, b.s, b.x, b.r, b.k
	bit, zero, ready := b.bit, b.zero, b.ready
	number := func(prob Op) { b.number(v, prob) }
	Load(Param("m"), t)
	MOVQ(t, mp)
	XORQ(t, t)
	MOVQ(t, bitsOr)

	MOVQ(mp, t)
	XORQ(k, k)
	MOVQ(k, first)
	MOVB(U8(0), at(t, vp8Count))
	MOVBQZX(at(t, vp8Y2), s)
	TESTQ(s, s)
	JZ(LabelRef("luma"))
	MOVQ(k, block)
	MOVQ(at(t, vp8Probs), s)
	ADDQ(U32(vp8PlaneSize), s)
	MOVQ(s, planeProbs)
	MOVQ(at(t, vp8Quant), s)
	MOVQ(s, steps)
	JMP(LabelRef("block"))

	Label("luma")
	MOVQ(mp, t)
	MOVQ(U32(1), s)
	MOVQ(s, block)
	MOVQ(at(t, vp8Probs), s)
	MOVBQZX(at(t, vp8Y2), x)
	MOVQ(x, first)
	LEAQ(at(s, 3*vp8PlaneSize), r)
	TESTQ(x, x)
	CMOVQEQ(r, s)
	MOVQ(s, planeProbs)
	MOVQ(at(t, vp8Quant), s)
	ADDQ(U8(8), s)
	MOVQ(s, steps)

	Label("block")
	MOVQ(mp, t)
	MOVQ(block, k)
	MOVQ(at(t, vp8Above), s)
	LEAQ(aboveAt, r)
	MOVBQZX(Mem{Base: r, Index: k, Scale: 1}, x)
	MOVBQZX(Mem{Base: s, Index: x, Scale: 1}, p)
	LEAQ(leftAt, r)
	MOVBQZX(Mem{Base: r, Index: k, Scale: 1}, x)
	MOVBQZX(Mem{Base: t, Index: x, Scale: 1, Disp: vp8Left}, x)
	ADDQ(x, p)
	SHLQ(U8(4), p)
	SHLQ(U8(5), k)
	LEAQ(Mem{Base: t, Index: k, Scale: 1, Disp: vp8Coef}, coef)
	MOVQ(first, n)
	IMUL3Q(U8(48), n, band)
	ADDQ(planeProbs, band)
	ADDQ(band, p)

	Label("coefficient")
	bit(at(p, 0), "block_end")
	Label("nonzero")
	bit(at(p, 1), "next_zero")
	ADDQ(U8(48), band)
	bit(at(p, 2), "one")
	// A larger value.
	bit(at(p, 3), "two_to_four")
	bit(at(p, 6), "five_to_ten")
	XORQ(v, v)
	number(at(p, 8))
	ADDQ(v, p)
	number(at(p, 9))
	MOVQ(v, kind)
	LEAQ(Mem{Base: v, Index: v, Scale: 2}, t)
	LEAQ(extra, p)
	LEAQ(Mem{Base: p, Index: t, Scale: 4}, p)
	XORQ(v, v)
	Label("extra")
	number(at(p, 0))
	INCQ(p)
	CMPB(at(p, 0), U8(0))
	JNE(LabelRef("extra"))
	MOVQ(kind, k)
	MOVQ(U32(8), t)
	SHLXQ(k, t, t)
	LEAQ(Mem{Base: v, Index: t, Scale: 1, Disp: 3}, v)
	JMP(LabelRef("large"))

	zero("five_to_ten")
	bit(at(p, 7), "five_or_six")
	XORQ(v, v)
	number(U32(165))
	number(U32(145))
	ADDQ(U8(7), v)
	JMP(LabelRef("large"))
	zero("five_or_six")
	XORQ(v, v)
	number(U32(159))
	ADDQ(U8(5), v)
	JMP(LabelRef("large"))
	zero("two_to_four")
	bit(at(p, 4), "two")
	XORQ(v, v)
	number(at(p, 5))
	ADDQ(U8(3), v)
	JMP(LabelRef("large"))
	zero("two")
	MOVQ(U32(2), v)
	Label("large")
	LEAQ(at(band, 32), p)
	JMP(LabelRef("sign"))

	zero("next_zero")
	INCQ(n)
	ADDQ(U8(48), band)
	MOVQ(band, p)
	CMPQ(n, U8(16))
	JNE(LabelRef("nonzero"))
	JMP(LabelRef("block_done"))

	zero("one")
	MOVQ(U32(1), v)
	LEAQ(at(band, 16), p)

	Label("sign")
	MOVQ(steps, k)
	XORQ(t, t)
	TESTQ(n, n)
	SETNE(t.As8())
	MOVLQSX(Mem{Base: k, Index: t, Scale: 4}, t)
	IMULQ(t, v)
	ORQ(v, bitsOr)
	ready()
	// The probability is a half: the range is the same but for its lowest bit.
	LEAQ(at(span, 1<<24), r)
	MOVQ(r, x)
	SHRQ(U8(25), x)
	SHLQ(U8(56), x)
	BTRQ(U8(24), r)
	BTRQ(U8(24), span)
	MOVQ(value, k)
	SUBQ(x, k)
	CMOVQCC(k, value)
	CMOVQCS(r, span)
	SBBQ(s, s)
	NOTQ(s) // -1 if the value is negative
	ADDQ(value, value)
	DECQ(left)
	XORQ(s, v)
	SUBQ(s, v)
	LEAQ(zigzag, k)
	MOVBQZX(Mem{Base: k, Index: n, Scale: 1}, t)
	MOVW(v.As16(), Mem{Base: coef, Index: t, Scale: 1})
	INCQ(n)
	CMPQ(n, U8(16))
	JNE(LabelRef("coefficient"))
	JMP(LabelRef("block_done"))

	zero("block_end")
	Label("block_done")
	MOVQ(mp, t)
	MOVQ(block, k)
	MOVB(n.As8(), Mem{Base: t, Index: k, Scale: 1, Disp: vp8Count})
	CMPQ(n, first)
	SETHI(s.As8())
	LEAQ(aboveAt, r)
	MOVBQZX(Mem{Base: r, Index: k, Scale: 1}, x)
	MOVQ(at(t, vp8Above), p)
	MOVB(s.As8(), Mem{Base: p, Index: x, Scale: 1})
	LEAQ(leftAt, r)
	MOVBQZX(Mem{Base: r, Index: k, Scale: 1}, x)
	MOVB(s.As8(), Mem{Base: t, Index: x, Scale: 1, Disp: vp8Left})
	INCQ(k)
	MOVQ(k, block)
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
	MOVQ(at(t, vp8Probs), s)
	ADDQ(U32(2*vp8PlaneSize), s)
	MOVQ(s, planeProbs)
	MOVQ(at(t, vp8Quant), s)
	ADDQ(U8(16), s)
	MOVQ(s, steps)
	JMP(LabelRef("block"))

	b.finish()
}

// vp8Bits writes the reading of bits. The registers t, s, x, r and k are free
// between the bits.
type vp8Bits struct {
	value, span, left, src reg64
	t, s, x, r, k          reg64
	reader                 Mem

	ready  func()                    // makes sure that there are 8 bits
	bit    func(prob Op, to string)  // reads a bit and jumps if it is 0
	zero   func(name string)         // begins the code to jump to
	number func(v Register, prob Op) // reads a bit to v's end, without a branch
	later  []func()                  // code that is rarely run
}

type reg64 = GPVirtual

// newVP8Bits loads the state of the VP8Reader that parameter r points to.
func newVP8Bits() *vp8Bits {
	b := &vp8Bits{
		value: GP64(), span: GP64(), left: GP64(), src: GP64(), t: GP64(), s: GP64(), x: GP64(), r: GP64(), k: GP64(),
		reader: AllocLocal(8),
	}
	value, span, left, src, t, s, x, r, k := b.value, b.span, b.left, b.src, b.t, b.s, b.x, b.r, b.k
	end, stop, unit, behind := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	at := func(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }
	Load(Param("r"), r)
	MOVQ(r, b.reader)
	MOVQ(at(r, vp8Buf), src)
	MOVQ(at(r, vp8Len), t)
	ADDQ(src, t)
	MOVQ(t, end)
	SUBQ(U8(8), t)
	MOVQ(t, stop)
	ADDQ(at(r, vp8Pos), src)
	MOVQ(at(r, vp8Value), value)
	MOVQ(at(r, vp8Range), span)
	INCQ(span)
	SHLQ(U8(24), span)
	MOVQ(at(r, vp8Left64), left)
	XORQ(t, t)
	BTSQ(U8(32), t)
	MOVQ(t, unit)
	DECQ(t)
	MOVQ(t, behind)

	// ready makes sure that there are 8 bits.
	b.ready = func() {
		name, back := label("refill"), label("ready")
		TESTQ(left, left)
		JS(LabelRef(name))
		Label(back)
		b.later = append(b.later, func() {
			slow, over := label("byte"), label("over")
			Label(name)
			CMPQ(src, stop)
			JA(LabelRef(slow))
			MOVQ(Mem{Base: src}, t)
			BSWAPQ(t)
			LEAQ(at(left, 8), s)
			SHRXQ(s, t, t)
			ORQ(t, value)
			ADDQ(U8(7), src)
			ADDQ(U8(56), left)
			JMP(LabelRef(back))
			Label(slow)
			CMPQ(src, end)
			JAE(LabelRef(over))
			MOVBQZX(Mem{Base: src}, t)
			MOVQ(U32(48), s)
			SUBQ(left, s)
			SHLXQ(s, t, t)
			ORQ(t, value)
			INCQ(src)
			ADDQ(U8(8), left)
			JMP(LabelRef(back))
			Label(over)
			MOVQ(b.reader, t)
			MOVB(U8(1), at(t, vp8Ended))
			ADDQ(U8(8), left)
			JMP(LabelRef(back))
		})
	}
	// divide computes the part of the range that means 0, plus a fraction, in
	// t with 32 bits behind the point: (range-1)*prob/256 + 1. The part itself
	// is in the lower half of s. The bit is 0 if x, the first 40 bits of the
	// value with the last 32 set, is less than t.
	divide := func(prob Op) {
		b.ready()
		if m, ok := prob.(Mem); ok {
			MOVBQZX(m, t)
		} else {
			MOVQ(prob, t)
		}
		MOVQ(value, x)
		SHRQ(U8(24), x)
		ORQ(behind, x)
		RORXQ(U8(64-24), t, s)
		MOVQ(unit, r)
		SUBQ(s, r)
		IMULQ(span, t)
		ADDQ(r, t)
		RORXQ(U8(32), t, s)
	}
	// rest computes the other part in r like divide. It changes x.
	rest := func() {
		RORXQ(U8(64-8), span, r)
		MOVL(U32(0xFF000000), x.As32()) // the fraction is rounded down
		ADDQ(x, r)
		SUBQ(t, r)
	}
	// scale makes part the range, whose integer is in s already.
	scale := func(part, zeros Register) {
		z := zeros.(GPVirtual)
		LZCNTQ(part, z)
		SHLXL(z.As32(), s.As32(), span.As32())
		SUBQ(U8(24), z)
		SHLXQ(z, value, value)
		SUBQ(z, left)
	}
	// bit reads a bit and jumps if it is 0; the code there starts with zero.
	b.bit = func(prob Op, to string) {
		divide(prob)
		CMPQ(x, t)
		JB(LabelRef(to))
		rest()
		SHLQ(U8(56), s)
		SUBQ(s, value)
		RORXQ(U8(32), r, s)
		scale(r, t)
	}
	b.zero = func(name string) {
		Label(name)
		scale(t, r)
	}
	// number reads a bit to v's end, without a branch.
	b.number = func(v Register, prob Op) {
		divide(prob)
		MOVQ(x, k)
		rest()
		SHLQ(U8(56), s)
		MOVQ(value, x)
		SUBQ(s, x)
		CMPQ(k, t) // carries if the bit is 0
		CMOVQCC(x, value)
		CMOVQCS(t, r)
		CMC()
		ADCQ(v, v)
		RORXQ(U8(32), r, s)
		scale(r, t)
	}
	return b
}

// save stores the state.
func (b *vp8Bits) save() {
	at := func(disp int) Mem { return Mem{Base: b.t, Disp: disp} }
	MOVQ(b.reader, b.t)
	MOVQ(b.value, at(vp8Value))
	SHRQ(U8(24), b.span)
	DECQ(b.span)
	MOVQ(b.span, at(vp8Range))
	MOVQ(b.left, at(vp8Left64))
	SUBQ(at(vp8Buf), b.src)
	MOVQ(b.src, at(vp8Pos))
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
	above, beside, modes := GP64(), GP64(), GP64()
	p, i, v := GP64(), AllocLocal(8), GP64()
	Load(Param("modes"), modes)
	XORQ(b.t, b.t)
	MOVQ(b.t, i)
	prob := func(n int) Mem { return Mem{Base: p, Disp: n} }
	set := func(n int) {
		MOVQ(U32(n), v)
		JMP(LabelRef("mode"))
	}

	Label("block")
	place := func() {
		MOVQ(i, b.k)
		MOVQ(b.k, b.x)
		ANDQ(U8(3), b.k)
		SHRQ(U8(2), b.x)
		Load(Param("above"), above)
		Load(Param("left"), beside)
	}
	place()
	MOVBQZX(Mem{Base: above, Index: b.k, Scale: 1}, p)
	MOVBQZX(Mem{Base: beside, Index: b.x, Scale: 1}, b.t)
	LEAQ(Mem{Base: p, Index: p, Scale: 4}, p)
	LEAQ(Mem{Base: b.t, Index: p, Scale: 2}, p)
	LEAQ(Mem{Base: p, Index: p, Scale: 8}, p)
	Load(Param("probs"), b.t)
	ADDQ(b.t, p)

	b.bit(prob(0), "dc")
	b.bit(prob(1), "true")
	b.bit(prob(2), "vertical")
	b.bit(prob(3), "first")
	b.bit(prob(6), "left_down")
	b.bit(prob(7), "vertical_left")
	XORQ(v, v)
	b.number(v, prob(8))
	ADDQ(U8(8), v)
	JMP(LabelRef("mode"))
	b.zero("dc")
	set(0)
	b.zero("true")
	set(1)
	b.zero("vertical")
	set(2)
	b.zero("first")
	b.bit(prob(4), "horizontal")
	XORQ(v, v)
	b.number(v, prob(5))
	ADDQ(U8(4), v)
	JMP(LabelRef("mode"))
	b.zero("horizontal")
	set(3)
	b.zero("left_down")
	set(6)
	b.zero("vertical_left")
	MOVQ(U32(7), v)

	Label("mode")
	place()
	MOVB(v.As8(), Mem{Base: above, Index: b.k, Scale: 1})
	MOVB(v.As8(), Mem{Base: beside, Index: b.x, Scale: 1})
	MOVQ(i, b.k)
	MOVB(v.As8(), Mem{Base: modes, Index: b.k, Scale: 1})
	INCQ(b.k)
	MOVQ(b.k, i)
	CMPQ(b.k, U8(16))
	JNE(LabelRef("block"))
	b.save()
	RET()
	b.finish()
}
