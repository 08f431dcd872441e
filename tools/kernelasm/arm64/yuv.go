package main

// yuv converts 16 pixels at a time by the rule of yuv.go of package kernel. It
// keeps even and odd pixels apart, so that a sample of chroma is multiplied
// once for both. Y x 257 x 16320 >> 16 is 64 Y - 1, or 0 for Y = 0: uqsub
// computes it.
func yuv() {
	halves("yuv", 90, -22, -46, 113)
	text("yuv420SIMD", 56, "func yuv420SIMD(dst, y, u, v *byte, n int, twice *[16]uint8, advance int)")
	const dst, y, u, v, order = R(0), R(1), R(2), R(3), R(5)
	p("MOVD dst+0(FP), R0")
	p("MOVD y+8(FP), R1")
	p("MOVD u+16(FP), R2")
	p("MOVD v+24(FP), R3")
	p("MOVD n+32(FP), R4")
	p("MOVD twice+40(FP), R5")
	p("MOVD advance+48(FP), R6")
	p("MOVD $yuv<>(SB), R7")
	const factors, bias, one, once = V(0), V(1), V(2), V(3)
	ldr(3, factors, 7, 0)
	movi(bias.b16(), 128)
	movi(one.b16(), 1)
	ushr(one.h8(), one.h8(), 8)
	ldr(4, once, order, 0)
	uzp1(once.b16(), once.b16(), once.b16())
	label("loop")
	const even, odd, vu, vv = V(4), V(5), V(6), V(7)
	ld2(even.b8(), y, 16)
	ldr(4, vu, u, 0)
	ldr(4, vv, v, 0)
	p("ADD R6, R2")
	p("ADD R6, R3")
	tbl(vu, vu, 1, once)
	tbl(vv, vv, 1, once)
	usubl(vu.h8(), vu.b8(), bias.b8())
	usubl(vv.h8(), vv.b8(), bias.b8())
	const r, g, b = V(16), V(17), V(18)
	mulBy(r.h8(), vv.h8(), factors.h(0))
	mulBy(g.h8(), vu.h8(), factors.h(1))
	mulBy(b.h8(), vu.h8(), factors.h(3))
	mlaBy(g.h8(), vv.h8(), factors.h(2))
	for _, l := range []V{even, odd} {
		ushll(l.h8(), l.b8(), 6)
		uqsub(l.h8(), l.h8(), one.h8())
	}
	const bytes = V(20) // and 21, 22
	const odds = V(24)  // and 25, 26
	for i, c := range []V{r, g, b} {
		e, o := bytes+V(i), odds+V(i)
		add(e.h8(), even.h8(), c.h8())
		add(o.h8(), odd.h8(), c.h8())
		sqrshrun(e.b8(), e.h8(), 6)
		sqrshrun(o.b8(), o.h8(), 6)
		zip1(e.b16(), e.b16(), o.b16())
	}
	st3(bytes.b16(), dst, 48)
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}
