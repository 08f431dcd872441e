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
	Doc("vp8lLiteralsBMI2 is VP8LReader.Literals for n pixels, while the next byte is not after byte", "last, from which on there are 24.")
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
	// look loads the entry of a symbol, and then does something else.
	look := func(table Register, also func()) {
		name := fmt.Sprint(lookups)
		lookups++
		MOVBLZX(bits.As8(), t.As32())
		MOVL(Mem{Base: table, Index: t, Scale: 4}, e.As32())
		also()
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
	nothing := func() {}
	refill()
	Label("loop")
	CMPQ(dst, end)
	JAE(LabelRef("done"))
	CMPQ(in, last)
	JA(LabelRef("done"))
	look(tables[0], nothing)
	CMPL(e.As32(), U32(256<<16))
	JAE(LabelRef("done"))
	take()
	MOVL(e.As32(), pixel.As32())
	SHRL(U8(16), pixel.As32())
	SHLL(U8(8), pixel.As32())
	look(tables[1], refill) // the look-up does not wait for the refilled bits
	take()
	ANDL(U32(0xFFFF0000), e.As32())
	ORL(e.As32(), pixel.As32())
	look(tables[2], nothing)
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
	look(alpha, nothing)
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

var _ = add("vp8l", func() {
	vp8lAddGreen()
	vp8lAddColors()
	for mode := range 14 {
		vp8lPredict(mode)
	}
})

func vp8lAddGreen() {
	// The green byte of each pixel, twice.
	order := bytesOf("vp8lAddGreen_order", 32, twice(func(i int) int {
		if i%2 == 1 {
			return -1
		}
		return i/4*4 + 1
	}))
	function("vp8lAddGreenSIMD", "func(pixels *uint32, n int)")
	Doc("vp8lAddGreenSIMD adds green to red and blue of n pixels, a multiple of 8 and not 0.")
	p, n := Load(Param("pixels"), GP64()), Load(Param("n"), GP64())
	mask := YMM()
	VMOVDQU(order, mask)
	Label("loop")
	v, green := YMM(), YMM()
	VMOVDQU(Mem{Base: p}, v)
	VPSHUFB(mask, v, green)
	VPADDB(green, v, v)
	VMOVDQU(v, Mem{Base: p})
	ADDQ(U8(32), p)
	SUBQ(U8(8), n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// vp8lAddColors multiplies signed bytes, which are the high ones of words, by
// the factors times 8. The high words of the products are those shifted by 5.
func vp8lAddColors() {
	green := bytesOf("vp8lAddColors_green", 32, twice(func(i int) int {
		if i%2 == 0 {
			return -1
		}
		return i/4*4 + 1
	}))
	red := bytesOf("vp8lAddColors_red", 32, twice(func(i int) int {
		if i%4 != 1 {
			return -1
		}
		return i/4*4 + 2
	}))
	function("vp8lAddColorsSIMD", "func(pixels *uint32, n int, factors uint32, redBlue uint32)")
	Doc("vp8lAddColorsSIMD inverts the transform of colours for n pixels, a multiple of 4 and not 0.",
		"factors has those of green in words: 8 times that of blue, then 8 times that of red.")
	p, n := Load(Param("pixels"), GP64()), Load(Param("n"), GP64())
	factors, redBlue, low := XMM(), XMM(), XMM()
	VMOVD(Load(Param("factors"), GP32()), factors)
	VPBROADCASTD(factors, factors)
	VMOVD(Load(Param("redBlue"), GP32()), redBlue)
	VPBROADCASTD(redBlue, redBlue)
	VPCMPEQW(low, low, low)
	VPSRLW(U8(8), low, low)
	greenMask, redMask := XMM(), XMM()
	VMOVDQU(green, greenMask)
	VMOVDQU(red, redMask)
	Label("loop")
	v, t := XMM(), XMM()
	VMOVDQU(Mem{Base: p}, v)
	VPSHUFB(greenMask, v, t)
	VPMULHW(factors, t, t)
	VPAND(low, t, t)
	VPADDB(t, v, v)
	VPSHUFB(redMask, v, t)
	VPMULHW(redBlue, t, t)
	VPAND(low, t, t)
	VPADDB(t, v, v)
	VMOVDQU(v, Mem{Base: p})
	ADDQ(U8(16), p)
	SUBQ(U8(4), n)
	JNZ(LabelRef("loop"))
	RET()
}

// vp8lPredict writes the inverse of a predictor. Those that depend on the pixel
// to the left take one pixel at a time.
func vp8lPredict(mode int) {
	name := fmt.Sprintf("vp8lPredict%dSIMD", mode)
	function(name, "func(row, up *uint32, n int)")
	Doc(fmt.Sprintf("%s inverts predictor %d for n pixels, 1 or more. There are pixels before row", name, mode), "and up, and one after those of up.")
	row, up, n := Load(Param("row"), GP64()), Load(Param("up"), GP64()), Load(Param("n"), GP64())
	x := GP64()
	XORQ(x, x)
	at := func(p Register, pixel int) Mem { return Mem{Base: p, Index: x, Scale: 4, Disp: 4 * pixel} }
	ones := YMM()
	switch mode {
	case 0:
		VPCMPEQD(ones, ones, ones)
		VPSLLD(U8(24), ones, ones) // black
	case 5, 6, 7, 8, 9, 10:
		VPCMPEQB(ones, ones, ones)
		VPABSB(ones, ones)
	}
	wide := true // vectors of 8 pixels, else 1
	load := func(m Mem) VecVirtual {
		if wide {
			v := YMM()
			VMOVDQU(m, v)
			return v
		}
		v := XMM()
		VMOVD(m, v)
		return v
	}
	vector := func() VecVirtual {
		if wide {
			return YMM()
		}
		return XMM()
	}
	one := func() Op {
		if wide {
			return ones
		}
		return ones.AsX()
	}
	mean := func(a, b VecVirtual) VecVirtual {
		v, odd := vector(), vector()
		VPXOR(a, b, odd)
		VPAND(one(), odd, odd)
		VPAVGB(a, b, v)
		VPSUBB(odd, v, v)
		return v
	}
	if mode == 0 || mode >= 2 && mode <= 4 || mode == 8 || mode == 9 {
		predict := func() VecVirtual {
			switch mode {
			case 0:
				return nil
			case 2:
				return load(at(up, 0))
			case 3:
				return load(at(up, 1))
			case 4:
				return load(at(up, -1))
			case 8:
				return mean(load(at(up, -1)), load(at(up, 0)))
			}
			return mean(load(at(up, 0)), load(at(up, 1)))
		}
		step := func() {
			v := load(at(row, 0))
			p := predict()
			switch {
			case mode == 0:
				VPADDB(one(), v, v)
			default:
				VPADDB(p, v, v)
			}
			if wide {
				VMOVDQU(v, at(row, 0))
			} else {
				VMOVD(v, at(row, 0))
			}
		}
		SUBQ(U8(8), n)
		JB(LabelRef("rest"))
		Label("loop")
		step()
		ADDQ(U8(8), x)
		SUBQ(U8(8), n)
		JAE(LabelRef("loop"))
		Label("rest")
		ADDQ(U8(8), n)
		JZ(LabelRef("done"))
		wide = false
		Label("one")
		step()
		INCQ(x)
		DECQ(n)
		JNZ(LabelRef("one"))
		Label("done")
		VZEROUPPER()
		RET()
		return
	}
	wide = false
	left := XMM()
	VMOVD(at(row, -1), left)
	words := func(v VecVirtual) VecVirtual {
		w := XMM()
		VPMOVZXBW(v, w)
		return w
	}
	Label("loop")
	v := load(at(row, 0))
	var p VecVirtual
	switch mode {
	case 1:
		p = left
	case 5:
		p = mean(mean(left, load(at(up, 1))), load(at(up, 0)))
	case 6:
		p = mean(left, load(at(up, -1)))
	case 7:
		p = mean(left, load(at(up, 0)))
	case 10:
		p = mean(mean(left, load(at(up, -1))), mean(load(at(up, 0)), load(at(up, 1))))
	case 11:
		top, corner := load(at(up, 0)), load(at(up, -1))
		fromLeft, fromTop := XMM(), XMM()
		VPSADBW(corner, top, fromTop)
		VPSADBW(corner, left, fromLeft)
		VPCMPGTD(fromTop, fromLeft, fromLeft)
		p = XMM()
		VPBLENDVB(fromLeft, left, top, p)
	case 12:
		top, corner := words(load(at(up, 0))), words(load(at(up, -1)))
		VPSUBW(corner, top, top)
		p = words(left)
		VPADDW(top, p, p)
		VPACKUSWB(p, p, p)
	case 13:
		top, corner := words(load(at(up, 0))), words(load(at(up, -1)))
		p = words(left)
		VPADDW(top, p, p)
		VPSRLW(U8(1), p, p)
		half, sign := XMM(), XMM()
		VPSUBW(corner, p, half)
		VPSRLW(U8(15), half, sign)
		VPADDW(sign, half, half)
		VPSRAW(U8(1), half, half)
		VPADDW(half, p, p)
		VPACKUSWB(p, p, p)
	}
	VPADDB(p, v, left)
	VMOVD(left, at(row, 0))
	INCQ(x)
	CMPQ(x, n)
	JB(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
