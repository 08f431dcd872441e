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

	targetDC, targetAC, targetBlocks, targetLast, targetStep, targetComp, targetSize = 0, 8, 16, 40, 64, 72, 80

	tableMax, tableOffset, tableVals = 16384, 16404, 16424
)

const huffBits = 11

var _ = add("huffman", huffman)

// huffman writes HuffReader.Decode. Its cost is the chain of dependent
// instructions between two look-ups: shift, load the length, shift.
func huffman() {
	place := GLOBL("huff_place", 8|16)
	x, y := 0, 0
	for k := range 256 {
		switch {
		case k == 0:
			DATA(k, U8(0))
			continue
		case k > 64:
			DATA(k, U8(2*63))
			continue
		}
		DATA(k, U8(2*(8*y+x)))
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

	TEXT("huffDecodeBMI2", NOSPLIT, "func(r *byte)")
	Pragma("noescape")
	Doc("huffDecodeBMI2 is HuffReader.Decode. r points to a HuffReader.")
	r := Load(Param("r"), GP64())
	stop, end, last := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	src, acc, n, k := GP64(), GP64(), GP64(), GP64()
	to, blk, ac, zigzag := GP64(), GP64(), GP64(), GP64()
	p, k2, length, t, u := GP64(), GP64(), GP64(), GP64(), GP64()
	at := func(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

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
	LEAQ(place, zigzag)

	refill := func() {
		MOVQ(Mem{Base: src}, t)
		BSWAPQ(t)
		SHRXQ(n, t, t)
		ORQ(t, acc)
		MOVQ(n, t)
		XORQ(U8(63), t)
		SHRQ(U8(3), t)
		ADDQ(t, src)
		ORQ(U8(56), n)
	}
	// take drops bits.
	take := func(bits Register) {
		SHLXQ(bits, acc, acc)
		SUBQ(bits, n)
	}
	lookUp := func() {
		// The next look-up does not wait for the LEA.
		MOVQ(acc, t)
		SHRQ(U8(64-huffBits), t)
		MOVBQZX(Mem{Base: ac, Index: t, Scale: 8}, length)
		LEAQ(Mem{Base: ac, Index: t, Scale: 8}, p)
	}
	// symbol finishes a rare look-up: it moves the symbol to u and the code's
	// length to length.
	symbol := func(name string) {
		MOVBQZX(at(p, 4), u)
		MOVBQZX(at(p, 0), length)
		TESTQ(length, length)
		JNZ(LabelRef(name + "_known"))
		for i := range 16 - huffBits {
			MOVQ(acc, t)
			SHRQ(U8(63-huffBits-i), t)
			MOVQ(U32(huffBits+1+i), length)
			CMPL(t.As32(), at(ac, tableMax+4*i))
			if i < 15-huffBits {
				JLE(LabelRef(name + "_found" + string(rune('0'+i))))
			} else {
				JGT(LabelRef(name + "_bad"))
			}
		}
		for i := 15 - huffBits; i >= 0; i-- {
			if i < 15-huffBits {
				Label(name + "_found" + string(rune('0'+i)))
			}
			ADDL(at(ac, tableOffset+4*i), t.As32())
			if i > 0 {
				JMP(LabelRef(name + "_value"))
			}
		}
		Label(name + "_value")
		MOVBQZX(t.As8(), t)
		MOVBQZX(Mem{Base: ac, Index: t, Scale: 1, Disp: tableVals}, u)
		JMP(LabelRef(name + "_known"))
		Label(name + "_bad")
		XORQ(u, u)
		MOVQ(U32(17), length)
		Label(name + "_known")
	}
	// extend sets v to T.81's EXTEND of the size top bits of bits. It changes t
	// and bits.
	extend := func(v, size, bits Register) {
		MOVQ(I32(-1), t)
		BZHIQ(size, t, t)
		MOVQ(U32(64), v)
		SUBQ(size, v)
		SHRXQ(v, bits, v)
		SARQ(U8(63), bits)
		ANDNQ(t, bits, t)
		SUBQ(t, v)
	}
	word := func(from Mem, place Register) {
		w := GP64()
		MOVWQZX(from, w)
		MOVW(w.As16(), Mem{Base: blk, Index: place, Scale: 1})
	}

	Label("mcu")
	MOVQ(at(r, readerX), t)
	CMPQ(t, at(r, readerLimit))
	JGE(LabelRef("done"))
	CMPQ(src, stop)
	JA(LabelRef("done"))
	LEAQ(at(r, readerTo), to)

	Label("block")
	MOVQ(at(r, readerX), t)
	IMULQ(at(to, targetStep), t)
	MOVQ(at(to, targetLast), u)
	ADDQ(t, u)
	MOVQ(u, last)
	SHLQ(U8(7), t)
	MOVQ(at(to, targetBlocks), blk)
	ADDQ(t, blk)
	MOVQ(at(to, targetDC), ac) // temporarily the DC's table
	refill()
	lookUp()
	MOVWQSX(at(p, 4), u)
	CMPB(at(p, 1), U8(128))
	JE(LabelRef("dcRare"))
	Label("dc")
	take(length)
	MOVQ(at(to, targetComp), t)
	ADDL(Mem{Base: r, Index: t, Scale: 4, Disp: readerPred}, u.As32())
	MOVL(u.As32(), Mem{Base: r, Index: t, Scale: 4, Disp: readerPred})
	MOVW(u.As16(), Mem{Base: blk})
	MOVQ(at(to, targetAC), ac)
	MOVQ(U32(1), k)

	Label("ac")
	refill()
	for range 5 {
		lookUp()
		MOVBQZX(Mem{Base: ac, Index: t, Scale: 8, Disp: 2}, k2)
		ADDQ(k, k2)
		CMPQ(k2, U8(63))
		JA(LabelRef("special"))
		MOVBQZX(at(p, 1), t)
		ADDQ(k, t)
		MOVBQZX(Mem{Base: zigzag, Index: t, Scale: 1}, t)
		MOVBQZX(Mem{Base: zigzag, Index: k2, Scale: 1}, u)
		word(at(p, 4), t)
		word(at(p, 6), u)
		MOVQ(k2, k)
		take(length)
	}
	JMP(LabelRef("ac"))

	Label("special")
	MOVBQZX(at(p, 1), t)
	CMPQ(t, U32(128))
	JE(LabelRef("rare"))
	ADDQ(k, t)
	MOVBQZX(at(p, 3), u)
	TESTB(U8(0x40), u.As8())
	JZ(LabelRef("full"))
	CMPQ(t, U8(63))
	JA(LabelRef("full"))
	MOVQ(t, k)
	MOVBQZX(Mem{Base: zigzag, Index: t, Scale: 1}, t)
	MOVWLZX(Mem{Base: blk, Index: t, Scale: 1}, k2.As32())
	ANDW(at(p, 6), k2.As16())
	ORW(at(p, 4), k2.As16())
	MOVW(k2.As16(), Mem{Base: blk, Index: t, Scale: 1})
	take(length)

	Label("end")
	MOVQ(last, t)
	DECQ(k)
	MOVB(k.As8(), Mem{Base: t})
	ADDQ(U32(targetSize), to)
	CMPQ(to, end)
	JB(LabelRef("block"))
	INCQ(at(r, readerX))
	JMP(LabelRef("mcu"))

	Comment("The last coefficient or, in corrupt data, one beyond: the entry's first or second.")
	Label("full")
	v := GP64()
	MOVWLSX(at(p, 4), v.As32())
	o := GP64()
	MOVBQZX(Mem{Base: zigzag, Index: t, Scale: 1}, o)
	MOVW(v.As16(), Mem{Base: blk, Index: o, Scale: 1})
	CMPQ(t, U8(63))
	JBE(LabelRef("second"))
	MOVQ(t, k)
	ANDQ(U8(63), u)
	MOVQ(u, length)
	JMP(LabelRef("lastTaken"))
	Label("second")
	MOVWLSX(at(p, 6), v.As32())
	MOVQ(k2, k)
	MOVBQZX(Mem{Base: zigzag, Index: k2, Scale: 1}, t)
	MOVW(v.As16(), Mem{Base: blk, Index: t, Scale: 1})
	Label("lastTaken")
	take(length)
	JMP(LabelRef("end"))

	Label("rare")
	refill()
	symbol("ac")
	take(length)
	MOVQ(u, k2)
	SHRQ(U8(4), k2)
	ANDQ(U8(15), u)
	JZ(LabelRef("noValue"))
	LEAQ(Mem{Base: k, Index: k2, Scale: 1, Disp: 1}, k)
	MOVQ(acc, length)
	extend(k2, u, length)
	MOVBQZX(Mem{Base: zigzag, Index: k, Scale: 1}, t)
	MOVW(k2.As16(), Mem{Base: blk, Index: t, Scale: 1})
	take(u)
	CMPQ(k, U8(63))
	JBE(LabelRef("ac"))
	JMP(LabelRef("end"))
	Label("noValue")
	CMPQ(k2, U8(15))
	JNE(LabelRef("end"))
	ADDQ(U8(16), k)
	CMPQ(k, U8(63))
	JBE(LabelRef("ac"))
	JMP(LabelRef("end"))

	Label("dcRare")
	symbol("dc")
	ANDQ(U8(15), u)
	JZ(LabelRef("dc"))
	SHLXQ(length, acc, p)
	ADDQ(u, length)
	extend(k2, u, p)
	MOVQ(k2, u)
	JMP(LabelRef("dc"))

	Label("done")
	MOVQ(acc, at(r, readerAcc))
	MOVQ(n, at(r, readerN))
	SUBQ(at(r, readerBuf), src)
	MOVQ(src, at(r, readerPos))
	RET()
}
