package main

import "fmt"

// vp8 writes the functions of vp8_arm64.go of package kernel.
func vp8() {
	vp8Add()
	vp8Blocks()
	vp8True()
	vp8Filter()
	vp8FilterSimple()
	vp8Colours()
}

// vp8Turn transposes both blocks of four rows of 8 columns, in place.
func vp8Turn(v, t V) {
	for i := V(0); i < 4; i += 2 {
		trn1((t + i).h8(), (v + i).h8(), (v + i + 1).h8())
		trn2((t + i + 1).h8(), (v + i).h8(), (v + i + 1).h8())
	}
	for i := range V(2) {
		trn1((v + i).s4(), (t + i).s4(), (t + i + 2).s4())
		trn2((v + i + 2).s4(), (t + i).s4(), (t + i + 2).s4())
	}
}

// vp8Pass is the one-dimensional transform of the four rows from v on. It needs
// six registers from t on. The factors are 1 + 20091/65536 and 35468/65536;
// sqdmulh drops 15 bits of a product.
func vp8Pass(v, t, factors V) {
	h := func(v V) vec { return v.h8() }
	a, b, c, d, e, f := t, t+1, t+2, t+3, t+4, t+5
	sqdmulhBy(h(e), h(v+1), factors.h(0))
	sqdmulhBy(h(f), h(v+3), factors.h(0))
	sqdmulhBy(h(c), h(v+1), factors.h(1))
	sqdmulhBy(h(d), h(v+3), factors.h(1))
	add(h(a), h(v), h(v+2))
	sub(h(b), h(v), h(v+2))
	ssra(h(v+1), h(e), 1)
	ssra(h(v+3), h(f), 1)
	sub(h(c), h(c), h(v+3))
	add(h(d), h(d), h(v+1))
	add(h(v), h(a), h(d))
	add(h(v+1), h(b), h(c))
	sub(h(v+2), h(b), h(c))
	sub(h(v+3), h(a), h(d))
}

// vp8Inverse transforms the two blocks whose coefficients are at from: row n of
// both becomes the 8 words of v+n. It needs six registers from t on, and 4 in
// all lanes of four.
func vp8Inverse(v, t, factors, four V, from R) {
	ld1(4, t.h8(), from, 64) // rows 0, 1 and 2, 3 of both blocks
	for i := range V(2) {
		zip1((v + 2*i).d2(), (t + i).d2(), (t + 2 + i).d2())
		zip2((v + 2*i + 1).d2(), (t + i).d2(), (t + 2 + i).d2())
	}
	vp8Pass(v, t, factors)
	vp8Turn(v, t)
	add(v.h8(), v.h8(), four.h8())
	vp8Pass(v, t, factors)
	vp8Turn(v, t)
	for i := range V(4) {
		sshr((v + i).h8(), (v + i).h8(), 3)
	}
}

// vp8Constants sets the registers that vp8Inverse needs.
func vp8Constants(factors, four V) {
	p("MOVD $vp8Factors<>(SB), R7")
	ldr(3, factors, 7, 0)
	dup(four.h8(), factors.h(2))
}

func vp8Add() {
	halves("vp8Factors", 20091, 35468/2, 4, 0)
	text("vp8AddRowSIMD", 40, "func vp8AddRowSIMD(a, b *byte, stride int, coefA, coefB *[16]int16)")
	p("MOVD a+0(FP), R0")
	p("MOVD b+8(FP), R1")
	p("MOVD stride+16(FP), R2")
	p("MOVD coefA+24(FP), R3")
	p("MOVD coefB+32(FP), R4")
	const factors, four, v, t = V(0), V(1), V(16), V(20)
	vp8Constants(factors, four)
	for i := range R(2) {
		vp8Inverse(v, t, factors, four, 3+i)
		for n := range V(4) {
			ldr(3, 2, i, 0)
			uaddw((v + n).h8(), (v + n).h8(), V(2).b8())
			sqxtun(V(2).b8(), (v + n).h8())
			str(3, 2, i, 0)
			if n < 3 {
				p("ADD R2, R%d", i)
			}
		}
	}
	p("RET")
}

func vp8True() {
	text("vp8TrueSIMD", 24, "func vp8TrueSIMD(dst *byte, stride, n int)")
	const dst, top, before = R(0), R(3), R(4)
	p("MOVD dst+0(FP), R0")
	p("MOVD stride+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("SUB R1, R0, R3")
	p("SUB $1, R3, R4")
	const above, corner, low, high, left, out = V(0), V(1), V(2), V(3), V(4), V(5)
	ld1(1, above.b16(), top, 0)
	ld1r(corner.b16(), before)
	usubl(low.h8(), above.b8(), corner.b8())
	usubl(high.h8(), above.b16(), corner.b16())
	p("MOVD R2, R5")
	label("row")
	p("SUB $1, R0, R4")
	ld1r(left.b16(), before)
	uaddw(V(6).h8(), low.h8(), left.b8())
	uaddw(V(7).h8(), high.h8(), left.b16())
	sqxtun(out.b8(), V(6).h8())
	sqxtun(out.b16(), V(7).h8())
	p("CMP $8, R2")
	p("BGT store16")
	p("BEQ store8")
	str(2, out, dst, 0)
	p("B next")
	label("store8")
	str(3, out, dst, 0)
	p("B next")
	label("store16")
	str(4, out, dst, 0)
	label("next")
	p("ADD R1, R0")
	p("SUBS $1, R5")
	p("BNE row")
	p("RET")
}

// vp8Colours converts 32 pixels at a time: the chroma values between 17 columns
// of samples belong to them. It keeps the pixels after a column of samples and
// those before the next one apart.
func vp8Colours() {
	// The factors have 14 fraction bits. That of blue lacks 2: a byte times 128
	// is added apart. The last three are added to red, green and blue.
	halves("vp8Colours", 19077, 26149, 6419, 13320, 33050-1<<15, -14234, 8708, -17685)
	for _, size := range []int{3, 4} {
		name := fmt.Sprintf("vp8ToRGBx%dSIMD", size)
		text(name, 32, "func "+name+"(dst, y *byte, chroma *[4]*byte, n int)")
		const dst, y, uNear, uFar, vNear, vFar = R(0), R(1), R(4), R(5), R(6), R(7)
		p("MOVD dst+0(FP), R0")
		p("MOVD y+8(FP), R1")
		p("MOVD chroma+16(FP), R2")
		p("MOVD n+24(FP), R3")
		p("LDP (R2), (R4, R5)")
		p("LDP 16(R2), (R6, R7)")
		p("MOVD $vp8Colours<>(SB), R8")
		const factors, eight, addR, addG, addB = V(0), V(1), V(2), V(3), V(4)
		ldr(4, factors, 8, 0)
		movi(eight.b16(), 8)
		ushr(eight.h8(), eight.h8(), 8)
		dup(addR.h8(), factors.h(5))
		dup(addG.h8(), factors.h(6))
		dup(addB.h8(), factors.h(7))
		const bytes, odds = V(20), V(24) // three registers each
		half := func(v V, h int) vec {
			if h == 0 {
				return v.b8()
			}
			return v.b16()
		}
		label("loop")
		// mixed writes the chroma of the pixels after a column of samples to
		// out, and that of those before the next one to out+1. Bytes suffice:
		// only if all samples are 255 the sum divided by 8 is 256.
		mixed := func(out V, near, far R) {
			const n0, n1, f0, f1 = V(16), V(17), V(18), V(19)
			ldur(n0, near, 0)
			ldur(n1, near, 1)
			ldur(f0, far, 0)
			ldur(f1, far, 1)
			p("ADD $16, R%d", near)
			p("ADD $16, R%d", far)
			for h := range 2 {
				const a, b, sum = V(28), V(29), V(30)
				uaddl(a.h8(), half(n1, h), half(f0, h))
				uaddl(b.h8(), half(n0, h), half(f1, h))
				add(sum.h8(), a.h8(), b.h8())
				add(sum.h8(), sum.h8(), eight.h8())
				shl(a.h8(), a.h8(), 1)
				shl(b.h8(), b.h8(), 1)
				add(a.h8(), a.h8(), sum.h8())
				add(b.h8(), b.h8(), sum.h8())
				uqshrn(half(out, h), a.h8(), 3)
				uqshrn(half(out+1, h), b.h8(), 3)
			}
			uhadd(out.b16(), out.b16(), n0.b16())
			uhadd((out + 1).b16(), (out + 1).b16(), n1.b16())
		}
		const u, v, luma = V(5), V(7), V(9) // two registers each
		mixed(u, uNear, uFar)
		mixed(v, vNear, vFar)
		ld2(luma.b16(), y, 32)
		for k := range V(2) { // even and odd pixels
			out := bytes + 4*k
			for h := range 2 {
				const l, cu, cv, r, g, b, t = V(16), V(17), V(18), V(19), V(28), V(29), V(30)
				// A byte times 128 times twice a factor, without the lower 16
				// bits, is that of libwebp, which drops 8.
				ushll(l.h8(), half(luma+k, h), 7)
				ushll(cu.h8(), half(u+k, h), 7)
				ushll(cv.h8(), half(v+k, h), 7)
				sqdmulhBy(l.h8(), l.h8(), factors.h(0))
				sqdmulhBy(r.h8(), cv.h8(), factors.h(1))
				sqdmulhBy(t.h8(), cu.h8(), factors.h(2))
				sqdmulhBy(cv.h8(), cv.h8(), factors.h(3))
				add(g.h8(), l.h8(), addG.h8())
				add(b.h8(), l.h8(), addB.h8())
				sqadd(b.h8(), b.h8(), cu.h8())
				sqdmulhBy(cu.h8(), cu.h8(), factors.h(4))
				add(r.h8(), r.h8(), l.h8())
				sub(g.h8(), g.h8(), t.h8())
				sub(g.h8(), g.h8(), cv.h8())
				add(r.h8(), r.h8(), addR.h8())
				sqadd(b.h8(), b.h8(), cu.h8())
				sqshrun(half(out, h), r.h8(), 6)
				sqshrun(half(out+1, h), g.h8(), 6)
				sqshrun(half(out+2, h), b.h8(), 6)
			}
		}
		// The pixels alternate.
		const first, second = V(16), V(28)
		for c := range V(3) {
			zip1((first + c).b16(), (bytes + c).b16(), (odds + c).b16())
			zip2((second + c).b16(), (bytes + c).b16(), (odds + c).b16())
		}
		if size == 3 {
			st3(first.b16(), dst, 48)
			st3(second.b16(), dst, 48)
		} else {
			movi((first + 3).b16(), 255)
			movi((second + 3).b16(), 255)
			st4(first.b16(), dst, 64)
			st4(second.b16(), dst, 64)
		}
		p("SUBS $1, R3")
		p("BNE loop")
		p("RET")
	}
}
