package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.HuffReader, HuffTarget and HuffTable; a test compares them.
const (
	readerBuf, readerPos, readerStop, readerAcc, readerN  = 0, 24, 32, 40, 48
	readerTo, readerMCU, readerPred, readerX, readerLimit = 56, 856, 864, 880, 888
	readerMarks, readerPlaces                             = 896, 920

	targetDC, targetAC, targetBlocks, targetLast, targetStep, targetComp, targetSize = 0, 8, 16, 40, 64, 72, 80

	tableMax, tableOffset, tableVals = 8192, 8260, 8328
)

const huffBits, huffBitsDC, huffEnds, huffRare = 10, 8, 1 << 6, 1 << 7

var (
	_ = add("huffman", huffman)
	_ = add("huffman", findMarker)
	_ = add("huffman", unstuff)
)

// coefPlaces is NaturalPlaces of package kernel.
func coefPlaces() (places [256]uint8) {
	x, y := 0, 0
	for k := 1; k < 256; k++ {
		if k > 64 {
			places[k] = 2 * 63
			continue
		}
		places[k] = uint8(2 * (8*y + x))
		switch up := (x+y)%2 == 0; {
		case up && x == 7:
			y++
		case up && y == 0:
			x++
		case up:
			x, y = x+1, y-1
		case y == 7:
			x++
		case x == 0:
			y++
		default:
			x, y = x-1, y+1
		}
	}
	return places
}

// huffman writes HuffReader.Decode. Its cost is the chain of dependent
// instructions between two look-ups, a load and a BEXTR, and a mispredicted
// branch at the end of each block. So the target and the table of the next
// block are loaded before the end, and no branch depends on the end of an MCU.
func huffman() {
	TEXT("huffDecodeBMI2", NOSPLIT, "func(r *byte)")
	Pragma("noescape")
	Doc("huffDecodeBMI2 is HuffReader.Decode. r points to a HuffReader.")
	r := Load(Param("r"), GP64())
	stop, end, last, self, left := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	first := AllocLocal(8) // the place of coefficient 1
	// The next block: its target, its table for DC, and 1 if it begins an MCU.
	next, nextDC, nextMCU := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	src, acc, n, k := GP64(), GP64(), GP64(), GP64()
	to, blk, ac, limit := GP64(), GP64(), GP64(), GP64()
	e, t, t2, u, v, w := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	at := func(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

	MOVQ(r, self)
	MOVQ(at(r, readerBuf), src)
	MOVQ(at(r, readerStop), t)
	ADDQ(src, t)
	MOVQ(t, stop)
	ADDQ(at(r, readerPos), src)
	MOVQ(at(r, readerAcc), acc)
	MOVQ(at(r, readerN), n)
	IMUL3Q(U32(targetSize), at(r, readerMCU), t)
	LEAQ(Mem{Base: r, Index: t, Scale: 1, Disp: readerTo}, t)
	MOVQ(t, end)
	MOVQ(at(r, readerPlaces), limit)
	INCQ(limit)
	MOVQ(limit, first)
	ADDQ(U8(62), limit)

	// refill reads until acc has at least 56 bits. Only the six low bits of n
	// count.
	refill := func() {
		MOVQ(Mem{Base: src}, w)
		BSWAPQ(w)
		SHRXQ(n, w, w)
		ORQ(w, acc)
		MOVQ(n, w)
		NOTQ(w)
		SHRQ(U8(3), w)
		ANDQ(U8(7), w)
		ADDQ(w, src)
		ORQ(U8(56), n)
	}
	// take drops bits.
	take := func(bits Register) {
		SHLXQ(bits, acc, acc)
		SUBQ(bits, n)
	}
	// field loads a byte of the entry at index i.
	field := func(i Register, n int, to Register) { MOVBQZX(Mem{Base: ac, Index: i, Scale: 8, Disp: n}, to) }
	index := func(bits int, to Register) {
		MOVQ(acc, to)
		SHRQ(U8(64-bits), to)
	}
	lookUp := func(i Register) { MOVQ(Mem{Base: ac, Index: i, Scale: 8}, e) }
	// value sets v to T.81's EXTEND of the last value of the entry at index i.
	// shift shifts its argument right by 64 bits less the number of value bits.
	value := func(i Register, prepare func(), shift func(Register)) {
		field(i, 6, u)
		SHLXQ(u, acc, w)
		prepare()
		MOVQ(w, v)
		shift(v)
		SARQ(U8(63), w)
		NOTQ(w)
		shift(w)
		SUBL(w.As32(), v.As32())
	}
	store := func(word, place Register) {
		MOVW(word.(GPVirtual).As16(), Mem{Base: blk, Index: place, Scale: 1})
	}
	// values stores the values of the entry at index i, behind which k is, and
	// takes its bits.
	values := func(i Register) {
		MOVBQSX(Mem{Base: ac, Index: i, Scale: 8, Disp: 3}, u)
		MOVBQZX(Mem{Base: k, Index: u, Scale: 1}, u)
		MOVWLZX(Mem{Base: ac, Index: i, Scale: 8, Disp: 4}, v.As32())
		store(v, u)
		SHRQ(U8(56), e)
		value(i, func() { SUBQ(e, u) }, func(r Register) { SHRXQ(u, r, r) })
		MOVBQZX(Mem{Base: k}, u)
		store(v, u)
		take(e)
	}
	// symbol finishes a look-up of the other cases: it moves the symbol to u
	// and the code's length to e.
	symbol := func(name string) {
		field(t, 4, u)
		SHRQ(U8(56), e)
		JNZ(LabelRef(name + "_known"))
		MOVQ(U32(huffBitsDC+1), e)
		Label(name + "_search")
		XORL(u.As32(), u.As32())
		SUBL(e.As32(), u.As32())
		SHRXQ(u, acc, u)
		CMPL(u.As32(), Mem{Base: ac, Index: e, Scale: 4, Disp: tableMax})
		JLE(LabelRef(name + "_found"))
		INCQ(e)
		CMPQ(e, U8(17))
		JB(LabelRef(name + "_search"))
		XORL(u.As32(), u.As32())
		JMP(LabelRef(name + "_known"))
		Label(name + "_found")
		ADDL(Mem{Base: ac, Index: e, Scale: 4, Disp: tableOffset}, u.As32())
		MOVBQZX(u.As8(), u)
		MOVBQZX(Mem{Base: ac, Index: u, Scale: 1, Disp: tableVals}, u)
		Label(name + "_known")
	}
	// extend sets v to T.81's EXTEND of the u top bits of w, u > 0.
	extend := func() {
		MOVQ(I32(-1), t)
		BZHIQ(u, t, t)
		XORL(v.As32(), v.As32())
		SUBL(u.As32(), v.As32())
		SHRXQ(v, w, v)
		SARQ(U8(63), w)
		ANDNQ(t, w, w)
		SUBQ(w, v)
	}

	MOVQ(self, k)
	MOVQ(at(k, readerLimit), t)
	SUBQ(at(k, readerX), t)
	IMULQ(at(k, readerMCU), t)
	MOVQ(t, left) // blocks
	LEAQ(at(k, readerTo), to)
	MOVQ(at(to, targetDC), ac)
	refill()
	index(huffBitsDC, t)
	lookUp(t)
	MOVQ(U32(1), v)
	JMP(LabelRef("going"))

	Comment("t2 is the look-up after a block. The next block's first code comes before all else: it takes longest.")
	Label("end")
	MOVQ(nextDC, ac) // temporarily
	MOVQ(t2, t)
	SHRQ(U8(huffBits-huffBitsDC), t)
	lookUp(t)
	MOVQ(k, w)
	SUBQ(limit, w)
	ADDQ(U8(62), w)
	MOVQ(last, v)
	MOVB(w.As8(), Mem{Base: v})
	MOVQ(self, k) // temporarily
	MOVQ(next, to)
	MOVQ(nextMCU, v)
	ADDQ(v, at(k, readerX))
	DECQ(left)
	JZ(LabelRef("done"))
	CMPQ(src, stop)
	JA(LabelRef("nearStop"))
	Label("going")
	MOVQ(at(k, readerMarks), u)
	TESTQ(u, u)
	JNZ(LabelRef("mark"))
	Label("difference")
	refill()
	BEXTRQ(e, acc, t2)
	TESTL(U32(huffRare<<16), e.As32())
	JNZ(LabelRef("dcRare"))
	SHRQ(U8(56), e)
	value(t, func() { field(t, 3, u) }, func(r Register) {
		SHRQ(U8(1), r)
		SHRXQ(u, r, r)
	})
	take(e)
	XORL(e.As32(), e.As32())
	Label("dc")
	MOVQ(at(k, readerX), t)
	IMULQ(at(to, targetStep), t)
	MOVQ(at(to, targetLast), u)
	ADDQ(t, u)
	MOVQ(u, last)
	SHLQ(U8(7), t)
	MOVQ(at(to, targetBlocks), blk)
	ADDQ(t, blk)
	MOVQ(at(to, targetComp), t)
	ADDL(Mem{Base: k, Index: t, Scale: 4, Disp: readerPred}, v.As32())
	MOVL(v.As32(), Mem{Base: k, Index: t, Scale: 4, Disp: readerPred})
	MOVW(v.As16(), Mem{Base: blk})
	LEAQ(at(to, targetSize), u)
	LEAQ(at(k, readerTo), w)
	XORL(t.As32(), t.As32())
	CMPQ(u, end)
	SETEQ(t.As8())
	CMOVQEQ(w, u)
	MOVQ(u, next)
	MOVQ(t, nextMCU)
	MOVQ(at(u, targetDC), u)
	MOVQ(u, nextDC)
	MOVQ(at(to, targetAC), ac)
	MOVQ(first, k)
	TESTQ(e, e)
	JZ(LabelRef("second")) // the difference took at most huffMost of 56 bits

	Comment("A look-up finds the bits of the next one at once: these do not wait for acc.")
	Label("ac")
	refill()
	index(huffBits, t)
	Label("first")
	step := func(i, next Register, special string) {
		lookUp(i)
		field(i, 2, u)
		ADDQ(u, k)
		BEXTRQ(e, acc, next)
		CMPQ(k, limit)
		JA(LabelRef(special))
		values(i)
	}
	step(t, t2, "special")
	Label("second")
	step(t2, t, "specialSecond")
	refill()
	JMP(LabelRef("first"))

	Label("specialSecond")
	XCHGQ(t2, t)
	Label("special")
	SUBQ(u, k)
	TESTB(U8(huffEnds), u.As8())
	JZ(LabelRef("noEnd"))
	field(t, 6, v)
	ADDQ(k, v)
	CMPQ(v, limit)
	JA(LabelRef("one"))
	SHRQ(U8(56), e)
	take(e)
	MOVBQSX(Mem{Base: ac, Index: t, Scale: 8, Disp: 3}, w)
	ADDQ(w, u)
	MOVBQZX(Mem{Base: k, Index: u, Scale: 1, Disp: -64}, u)
	MOVWLZX(Mem{Base: ac, Index: t, Scale: 8, Disp: 4}, w.As32())
	store(w, u)
	MOVQ(v, k)
	JMP(LabelRef("end"))

	Label("nearStop")
	TESTQ(v, v)
	JZ(LabelRef("going"))
	JMP(LabelRef("done"))
	Label("mark")
	TESTQ(v, v)
	JZ(LabelRef("difference"))
	MOVQ(src, v)
	SUBQ(at(k, readerBuf), v)
	MOVQ(n, w)
	ANDQ(U8(63), w)
	SHLQ(U8(3), v)
	SUBQ(w, v)
	MOVQ(at(k, readerX), w)
	MOVL(v.As32(), Mem{Base: u, Index: w, Scale: 4})
	JMP(LabelRef("difference"))

	Label("noEnd")
	TESTB(U8(huffRare), u.As8())
	JNZ(LabelRef("rare"))
	Comment("The last coefficient or, in corrupt data, one beyond.")
	MOVBQSX(Mem{Base: ac, Index: t, Scale: 8, Disp: 3}, v)
	TESTQ(v, v)
	JZ(LabelRef("last"))
	ADDQ(u, v)
	ADDQ(k, v)
	CMPQ(v, limit)
	JA(LabelRef("one"))
	Label("last")
	ADDQ(u, k)
	values(t)
	JMP(LabelRef("end"))

	Comment("Of two steps, the first alone.")
	Label("one")
	refill()
	MOVQ(U32(1), e)
	JMP(LabelRef("ac_search"))

	Label("rare")
	refill()
	symbol("ac")
	take(e)
	MOVQ(u, e)
	SHRQ(U8(4), e)
	ANDQ(U8(15), u)
	JZ(LabelRef("noValue"))
	LEAQ(Mem{Base: k, Index: e, Scale: 1, Disp: 1}, k)
	MOVQ(acc, w)
	extend()
	MOVBQZX(Mem{Base: k}, t)
	store(v, t)
	take(u)
	CMPQ(k, limit)
	JBE(LabelRef("ac"))
	JMP(LabelRef("rareEnd"))
	Label("noValue")
	CMPQ(e, U8(15))
	JNE(LabelRef("rareEnd"))
	ADDQ(U8(16), k)
	CMPQ(k, limit)
	JBE(LabelRef("ac"))
	Label("rareEnd")
	refill()
	index(huffBits, t2)
	JMP(LabelRef("end"))

	Label("dcRare")
	symbol("dc")
	XORL(v.As32(), v.As32())
	ANDQ(U8(15), u)
	JZ(LabelRef("dcTake"))
	SHLXQ(e, acc, w)
	extend()
	ADDQ(u, e)
	Label("dcTake")
	take(e)
	MOVQ(U32(1), e)
	JMP(LabelRef("dc"))

	Label("done")
	MOVQ(self, t)
	MOVQ(acc, at(t, readerAcc))
	ANDQ(U8(63), n)
	MOVQ(n, at(t, readerN))
	SUBQ(at(t, readerBuf), src)
	MOVQ(src, at(t, readerPos))
	RET()
}

// ones returns a vector whose bytes are all 0xFF.
func ones() VecVirtual {
	v := YMM()
	VPCMPEQB(v, v, v)
	return v
}

// findMarker writes the search for a byte 0xFF that no zero follows. Stuffed
// zeros, which are frequent, cost no branch.
func findMarker() {
	function("findMarkerAVX2", "func(b *byte, n int) int")
	Doc("findMarkerAVX2 returns the index of the first block of 32 bytes that may have a marker, or the", "number of bytes before which there is none. n is more than 32.")
	p, n, at, mask := Load(Param("b"), GP64()), Load(Param("n"), GP64()), GP64(), GP32()
	ff, zero := ones(), YMM()
	VPXOR(zero, zero, zero)
	SUBQ(U8(33), n)
	XORQ(at, at)
	loop, done := label("loop"), label("done")
	Label(loop)
	x, y := YMM(), YMM()
	VPCMPEQB(Mem{Base: p, Index: at, Scale: 1}, ff, x)
	VPCMPEQB(Mem{Base: p, Index: at, Scale: 1, Disp: 1}, zero, y)
	VPANDN(x, y, x)
	VPMOVMSKB(x, mask)
	TESTL(mask, mask)
	JNZ(LabelRef(done))
	ADDQ(U8(32), at)
	CMPQ(at, n)
	JBE(LabelRef(loop))
	Label(done)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	RET()
}

// unstuff writes the copy without stuffed zeros.
func unstuff() {
	function("unstuffAVX2", "func(dst, src *byte, n int) (written, read int)")
	Doc("unstuffAVX2 copies the first bytes of src, of which it reads read bytes, without the byte after each", "0xFF. n, the length of src and of dst, is more than 32. Less than 33 bytes are left.")
	d, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	to, at, mask := GP64(), GP64(), GP64()
	ff := ones()
	SUBQ(U8(33), n)
	XORQ(at, at)
	XORQ(to, to)
	loop, found, next := label("loop"), label("found"), label("next")
	Label(loop)
	x, y := YMM(), YMM()
	VMOVDQU(Mem{Base: src, Index: at, Scale: 1}, x)
	VMOVDQU(x, Mem{Base: d, Index: to, Scale: 1})
	VPCMPEQB(x, ff, y)
	VPMOVMSKB(y, mask.As32())
	TESTL(mask.As32(), mask.As32())
	JNZ(LabelRef(found))
	ADDQ(U8(32), at)
	ADDQ(U8(32), to)
	Label(next)
	CMPQ(at, n)
	JLE(LabelRef(loop))
	VZEROUPPER()
	Store(to, ReturnIndex(0))
	Store(at, ReturnIndex(1))
	RET()
	Label(found)
	BSFL(mask.As32(), mask.As32())
	LEAQ(Mem{Base: to, Index: mask, Scale: 1, Disp: 1}, to)
	LEAQ(Mem{Base: at, Index: mask, Scale: 1, Disp: 2}, at)
	JMP(LabelRef(next))
}
