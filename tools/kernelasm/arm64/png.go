package main

import "fmt"

// png writes the functions of pngfilter_arm64.go of package kernel. Each
// processes four pixels at a time and reads 16 bytes for them.
func png() {
	for _, bpp := range []int{3, 4} {
		pngLeft(bpp)
	}
	pngUp()
	for _, bpp := range []int{3, 4} {
		pngAverage(bpp)
	}
	for _, bpp := range []int{3, 4} {
		pngPaeth(bpp)
	}
}

// pngSpread defines the shuffles that repeat each of four pixels of three
// bytes.
func pngSpread(name string) {
	var b []byte
	for px := range 4 {
		for i := range 16 {
			b = append(b, byte(3*px+i%3))
		}
	}
	data(name, b)
}

// pngLeft adds to each pixel the one before it: in pairs, in fours, and then
// the last pixel of the previous four. It may run in place, so it writes no
// byte after the pixels.
func pngLeft(bpp int) {
	name := fmt.Sprintf("pngLeft%dNEON", bpp)
	if bpp == 3 {
		pngSpread("pngLeft")
	}
	text(name, 24, "func "+name+"(dst, src *byte, n int)")
	const dst, src = R(0), R(1)
	const v, t, last, zero, order = V(0), V(1), V(2), V(3), V(4)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	if bpp == 3 {
		p("MOVD $pngLeft<>+48(SB), R3")
		ldr(4, order, 3, 0)
	}
	movi(last.b16(), 0)
	movi(zero.b16(), 0)
	label("loop")
	ldrPost(4, v, src, 4*bpp)
	ext(t, zero, v, 16-bpp)
	add(v.b16(), v.b16(), t.b16())
	ext(t, zero, v, 16-2*bpp)
	add(v.b16(), v.b16(), t.b16())
	add(v.b16(), v.b16(), last.b16())
	if bpp == 3 {
		strPost(3, v, dst, 8)
		st1Lane(v.s(2), dst)
		p("ADD $4, R0")
		tbl(last, v, 1, order)
	} else {
		strPost(4, v, dst, 16)
		dup(last.s4(), v.s(3))
	}
	p("SUBS $4, R2")
	p("BNE loop")
	p("RET")
}

func pngUp() {
	text("pngUpNEON", 32, "func pngUpNEON(dst, src, prev *byte, n int)")
	const dst, src, prev = R(0), R(1), R(2)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD prev+16(FP), R2")
	p("MOVD n+24(FP), R3")
	label("loop")
	ld1(4, V(0).b16(), src, 64)
	ld1(4, V(4).b16(), prev, 64)
	for i := range V(4) {
		add(i.b16(), i.b16(), (4 + i).b16())
	}
	st1(4, V(0).b16(), dst, 64)
	p("SUBS $64, R3")
	p("BNE loop")
	p("RET")
}

func pngAverage(bpp int) {
	name := fmt.Sprintf("pngAverage%dNEON", bpp)
	text(name, 32, "func "+name+"(dst, src, prev *byte, n int)")
	const dst, src, prev = R(0), R(1), R(2)
	const left, raw, above = V(0), V(4), V(8)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD prev+16(FP), R2")
	p("MOVD n+24(FP), R3")
	movi(left.b8(), 0)
	label("loop")
	for i := range V(4) {
		ldrPost(2, raw+i, src, bpp)
		ldrPost(2, above+i, prev, bpp)
	}
	for i := range V(4) {
		uhadd(left.b8(), left.b8(), (above + i).b8())
		add(left.b8(), left.b8(), (raw + i).b8())
		strPost(2, left, dst, bpp)
	}
	p("SUBS $4, R3")
	p("BNE loop")
	p("RET")
}

// pngPaeth computes all that depends on the row above for four pixels at a
// time. Let b be the sample above, c the one above to the left, and d their
// distance. If b >= c, the predictor as a function of the sample a to the left
// is
//
//	a for a <= c-2d, c for a < c-d/2, b for a < b, else a,
//
// and the mirror image of that if b < c. So low and high bound the samples
// whose predictor is not a, and those from edge on have above, others below.
// The samples to the left are in all four pixels of a register. Three
// instructions lead from them to the next ones, and one repeats these.
func pngPaeth(bpp int) {
	name := fmt.Sprintf("pngPaeth%dNEON", bpp)
	if bpp == 3 {
		pngSpread("pngPaeth")
	}
	text(name, 32, "func "+name+"(dst, src, prev *byte, n int)")
	const dst, src, prev = R(0), R(1), R(2)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD prev+16(FP), R2")
	p("MOVD n+24(FP), R3")
	const left, before, one, most, spread = V(16), V(17), V(18), V(19), V(20) // to 23
	if bpp == 3 {
		p("MOVD $pngPaeth<>(SB), R4")
		ld1(4, spread.b16(), 4, 0)
	}
	movi(left.b16(), 0)
	movi(before.b16(), 0)
	movi(one.b16(), 1)
	movi(most.b16(), 255)
	w := func(v V) vec { return v.b16() }
	label("loop")
	const raw, b, c, m, d = V(0), V(1), V(2), V(3), V(4)
	const low, high, edge, lowEdge, above, below, t = V(5), V(6), V(7), V(24), V(25), V(26), V(27)
	ldrPost(4, raw, src, 4*bpp)
	ldrPost(4, b, prev, 4*bpp)
	ext(c, before, b, 16-bpp)
	if bpp == 3 {
		ext(before, b, b, 12) // the last pixel moves to the end
	} else {
		mov(before, b)
	}
	cmhs(w(m), w(b), w(c))
	uabd(w(d), w(b), w(c))
	uqsub(w(t), w(d), w(one))
	uqadd(w(t), w(t), w(d)) // 2d-1, or 0
	uqsub(w(low), w(c), w(t))
	uqadd(w(high), w(c), w(t))
	bif(w(low), w(b), w(m))
	bit(w(high), w(b), w(m))
	ushr(w(d), w(d), 1)
	uqsub(w(lowEdge), w(c), w(d))
	uqadd(w(edge), w(c), w(d))
	// If this is 255, no sample is beyond it.
	cmeq(w(above), w(edge), w(most))
	orr(w(above), w(above), w(m))
	bsl(w(above), w(b), w(c))
	mov(below, b)
	bit(w(below), w(c), w(m))
	uqadd(w(edge), w(edge), w(one))
	bit(w(edge), w(lowEdge), w(m))
	add(w(above), w(above), w(raw))
	add(w(below), w(below), w(raw))
	for i := range 4 {
		const fromLow, toHigh, which, same = V(28), V(29), V(30), V(31)
		cmhs(w(fromLow), w(left), w(low))
		cmhs(w(toHigh), w(high), w(left))
		cmhs(w(which), w(left), w(edge))
		add(w(same), w(left), w(raw))
		and(w(fromLow), w(fromLow), w(toHigh))
		bsl(w(which), w(above), w(below))
		bsl(w(fromLow), w(which), w(same))
		if bpp == 3 {
			tbl(left, fromLow, 1, spread+V(i))
		} else {
			dup(left.s4(), fromLow.s(i))
		}
		strPost(2, left, dst, bpp)
	}
	p("SUBS $4, R3")
	p("BNE loop")
	p("RET")
}
