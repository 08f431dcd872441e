package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in kernel.HuffWriter and HuffSource; a test compares them.
const (
	writerBuf, writerN, writerAcc, writerBits, writerCodes                     = 0, 24, 32, 40, 48
	writerFrom, writerMCU, writerPred, writerX, writerLimit, writerStop        = 56, 776, 784, 800, 808, 816
	sourceBlocks, sourceMasks, sourceStep, sourceComp, sourceTable, sourceSize = 0, 24, 48, 56, 64, 72
)

var _ = add("encode", huffRow)

// huffRow writes HuffWriter.Row. The bits of two codes are stored at once; up
// to 7 bits and codes of 27 and 26 bits fit a register.
func huffRow() {
	place := GLOBL("huff_natural", 8|16)
	i := 0
	for d := range 15 {
		for j := max(0, d-7); j <= min(d, 7); j++ {
			y := j
			if d%2 == 0 {
				y = d - j
			}
			DATA(i, U8(2*(8*y+d-y)))
			i++
		}
	}
	// The value bits of AC coefficients of 11 bits, and above bit 11 their
	// number.
	const half = 1024
	for i := range 2 * half {
		v, n := (i+half)%(2*half)-half, 0
		for max(v, -v)>>n != 0 {
			n++
		}
		if v < 0 {
			v += 1<<n - 1
		}
		DATA(64+2*i, U16(v|n<<11))
	}
	natural := GP64()
	valueBits := func(v Register) Mem { return Mem{Base: natural, Index: v, Scale: 2, Disp: 64} }

	function("leadingZeros", "func(v uint64) int")
	Doc("leadingZeros counts the leading zeros of v with LZCNT.")
	in := Load(Param("v"), GP64())
	LZCNTQ(in, in)
	Store(in, ReturnIndex(0))
	RET()

	function("huffRowBMI2", "func(w *byte)")
	Doc("huffRowBMI2 is HuffWriter.Row. w points to a HuffWriter.")
	w := Load(Param("w"), GP64())
	stop, end, self, source := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	out, acc, nb := GP64(), GP64(), GP64()
	blk, mask, ac, before := GP64(), GP64(), GP64(), GP64()
	field := func(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }
	long := func(r Register) Register { return r.(GPVirtual).As32() }

	MOVQ(w, self)
	MOVQ(field(w, writerBuf), out)
	MOVQ(field(w, writerStop), acc)
	ADDQ(out, acc)
	MOVQ(acc, stop)
	ADDQ(field(w, writerN), out)
	IMUL3Q(U32(sourceSize), field(w, writerMCU), acc)
	LEAQ(Mem{Base: w, Index: acc, Scale: 1, Disp: writerFrom}, acc)
	MOVQ(acc, end)
	MOVQ(field(w, writerAcc), acc)
	MOVQ(field(w, writerBits), nb)
	LEAQ(place, natural)

	// add appends the code at entry and the bits of value.
	add := func(entry Mem, value Register) {
		code, n := GP64(), GP64()
		MOVL(entry, long(code))
		MOVBLZX(entry.Offset(4), long(n))
		SHLXQ(n, acc, acc)
		if value != nil {
			ORL(long(value), long(code))
		}
		ORQ(code, acc)
		ADDL(long(n), long(nb))
	}
	store := func() {
		t := GP64()
		MOVL(long(nb), long(t))
		NEGL(long(t))
		SHLXQ(t, acc, t)
		BSWAPQ(t)
		MOVQ(t, Mem{Base: out})
		MOVL(long(nb), long(t))
		SHRL(U8(3), long(t))
		ADDQ(t, out)
		ANDL(U8(7), long(nb))
	}
	// value sets size to the number of value bits of v, and v to these bits.
	value := func(v, size Register) {
		MOVL(long(v), long(size))
		SARL(U8(31), long(size))
		ADDL(long(size), long(v))
		XORL(long(v), long(size))
		LZCNTL(long(size), long(size))
		NEGL(long(size))
		ADDL(U8(32), long(size))
		BZHIL(long(size), long(v), long(v))
	}

	Label("mcu")
	MOVQ(self, w)
	t := GP64()
	MOVQ(field(w, writerX), t)
	CMPQ(t, field(w, writerLimit))
	JGE(LabelRef("done"))
	CMPQ(out, stop)
	JA(LabelRef("done"))
	LEAQ(field(w, writerFrom), t)
	MOVQ(t, source)

	Label("block")
	from, dc, x := GP64(), GP64(), GP64()
	MOVQ(self, w)
	MOVQ(source, from)
	MOVQ(field(w, writerX), x)
	IMULQ(field(from, sourceStep), x)
	MOVQ(field(from, sourceMasks), mask)
	MOVQ(Mem{Base: mask, Index: x, Scale: 8}, mask)
	SHLQ(U8(7), x)
	MOVQ(field(from, sourceBlocks), blk)
	ADDQ(x, blk)
	MOVQ(field(from, sourceTable), ac)
	SHLQ(U8(11), ac)
	ADDQ(field(w, writerCodes), ac)
	MOVQ(field(from, sourceComp), x)
	MOVWLSX(field(blk, 0), long(dc))
	MOVL(long(dc), long(from))
	SUBL(Mem{Base: w, Index: x, Scale: 4, Disp: writerPred}, long(dc))
	MOVL(long(from), Mem{Base: w, Index: x, Scale: 4, Disp: writerPred})
	size := GP64()
	value(dc, size)
	add(Mem{Base: ac, Index: size, Scale: 8}, dc)
	ADDQ(U32(512*8), ac)
	MOVL(U32(1), long(before)) // the index of the coefficient before, plus 1
	ANDQ(I8(-2), mask)
	JNZ(LabelRef("second"))

	Label("last")
	CMPL(long(before), U8(64))
	JE(LabelRef("full"))
	add(Mem{Base: ac}, nil) // the end of the block
	Label("full")
	store()
	MOVQ(source, from)
	ADDQ(U8(sourceSize), from)
	MOVQ(from, source)
	CMPQ(from, end)
	JB(LabelRef("block"))
	MOVQ(self, w)
	INCQ(field(w, writerX))
	JMP(LabelRef("mcu"))

	k, run, v := GP64(), GP64(), GP64()
	symbol := func(name string) {
		Label(name)
		TZCNTQ(mask, k)
		MOVL(long(k), long(run))
		SUBL(long(before), long(run))
		LEAL(Mem{Base: k, Disp: 1}, long(before))
		CMPL(long(run), U8(15))
		JA(LabelRef(name + "Run"))
		Label(name + "Value")
		MOVBLZX(Mem{Base: natural, Index: k, Scale: 1}, long(v))
		MOVWLZX(Mem{Base: blk, Index: v, Scale: 1}, long(v))
		ANDL(U32(2*half-1), long(v))
		MOVWLZX(valueBits(v), long(v))
		MOVL(long(v), long(size))
		SHRL(U8(11), long(size))
		ANDL(U32(1<<11-1), long(v))
		SHLL(U8(4), long(run))
		ADDL(long(size), long(run))
		add(Mem{Base: ac, Index: run, Scale: 8}, v)
		BLSRQ(mask, mask)
	}
	// zeros writes 16 zeros, as often as needed.
	zeros := func(name string) {
		Label(name + "Run")
		add(Mem{Base: ac, Disp: 8 * 0xF0}, nil)
		store()
		SUBL(U8(16), long(run))
		CMPL(long(run), U8(15))
		JA(LabelRef(name + "Run"))
		JMP(LabelRef(name + "Value"))
	}
	symbol("first")
	JZ(LabelRef("last"))
	symbol("second")
	store()
	TESTQ(mask, mask)
	JNZ(LabelRef("first"))
	JMP(LabelRef("last"))
	zeros("first")
	zeros("second")

	Label("done")
	SUBQ(field(w, writerBuf), out)
	MOVQ(out, field(w, writerN))
	MOVQ(acc, field(w, writerAcc))
	MOVQ(nb, field(w, writerBits))
	RET()
}
