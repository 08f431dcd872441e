package main

// upsample writes the chroma filters of upsample.go of package kernel, 16 input
// samples at a time. If their number is not a multiple of 16, the last 16
// overlap the previous ones.
func upsample() {
	half := func(v V, h int) vec {
		if h == 0 {
			return v.b8()
		}
		return v.b16()
	}
	loop := func(out string, in ...string) {
		label("loop")
		p("CMP $16, R3")
		p("BGE whole")
		p("SUB $16, R3, R8")
		p(out)
		for _, r := range in {
			p("ADD R8, %s", r)
		}
		p("MOVD $16, R3")
		label("whole")
	}
	const dst, near, far = R(0), R(1), R(2)
	const three = V(0)

	text("upsampleH2V1SIMD", 24, "func upsampleH2V1SIMD(dst, src *byte, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R3")
	movi(three.b16(), 3)
	const one = V(1)
	movi(one.b16(), 1)
	loop("ADD R8<<1, R0", "R1")
	const prev, this, next, even, odd = V(2), V(3), V(4), V(6), V(7)
	ldur(prev, near, -1)
	ldur(next, near, 1)
	ld1(1, this.b16(), near, 16)
	for h := range 2 {
		e, o := V(16+2*h), V(17+2*h)
		uaddl(e.h8(), half(prev, h), half(one, h))
		ushll(o.h8(), half(next, h), 0)
		umlal(e.h8(), half(this, h), half(three, h))
		umlal(o.h8(), half(this, h), half(three, h))
		shrn(half(even, h), e.h8(), 2)
		rshrn(half(odd, h), o.h8(), 2)
	}
	st2(even.b16(), dst, 32)
	p("SUBS $16, R3")
	p("BNE loop")
	p("RET")

	text("upsampleH1V2SIMD", 40, "func upsampleH1V2SIMD(dst, near, far *byte, n, bias int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD near+8(FP), R1")
	p("MOVD far+16(FP), R2")
	p("MOVD n+24(FP), R3")
	p("MOVD bias+32(FP), R4")
	movi(three.b16(), 3)
	dupR(one.b16(), 4)
	loop("ADD R8, R0", "R1", "R2")
	ld1(1, this.b16(), near, 16)
	ld1(1, next.b16(), far, 16)
	for h := range 2 {
		e := V(16 + h)
		uaddl(e.h8(), half(next, h), half(one, h))
		umlal(e.h8(), half(this, h), half(three, h))
		shrn(half(even, h), e.h8(), 2)
	}
	st1(1, even.b16(), dst, 16)
	p("SUBS $16, R3")
	p("BNE loop")
	p("RET")

	text("upsampleH2V2SIMD", 32, "func upsampleH2V2SIMD(dst, near, far *byte, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD near+8(FP), R1")
	p("MOVD far+16(FP), R2")
	p("MOVD n+24(FP), R3")
	const seven, threes = V(1), V(22)
	movi(three.b16(), 3)
	movi(seven.b16(), 7)
	ushr(threes.h8(), three.h8(), 8)
	ushr(seven.h8(), seven.h8(), 8)
	loop("ADD R8<<1, R0", "R1", "R2")
	// These are sums of the columns that start one before, and one after.
	const nearPrev, nearNext, farPrev, farNext = V(2), V(3), V(4), V(5)
	const before, after, mid = V(16), V(18), V(20)
	ldur(nearPrev, near, -1)
	ldur(farPrev, far, -1)
	ldur(nearNext, near, 1)
	ldur(farNext, far, 1)
	p("ADD $16, R1")
	p("ADD $16, R2")
	for h := range 2 {
		b, a := before+V(h), after+V(h)
		ushll(b.h8(), half(farPrev, h), 0)
		ushll(a.h8(), half(farNext, h), 0)
		umlal(b.h8(), half(nearPrev, h), half(three, h))
		umlal(a.h8(), half(nearNext, h), half(three, h))
	}
	ext(mid, before, before+1, 2)
	ext(mid+1, after, after+1, 14)
	for h := range 2 {
		b, a, m := before+V(h), after+V(h), mid+V(h)
		add(a.h8(), a.h8(), seven.h8())
		mla(b.h8(), m.h8(), threes.h8())
		mla(a.h8(), m.h8(), threes.h8())
		rshrn(half(even, h), b.h8(), 4)
		shrn(half(odd, h), a.h8(), 4)
	}
	st2(even.b16(), dst, 32)
	p("SUBS $16, R3")
	p("BNE loop")
	p("RET")
}
