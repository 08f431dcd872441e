package main

import "fmt"

// vp8l writes the functions of vp8l_arm64.go of package kernel.
func vp8l() {
	vp8lAddGreen()
	vp8lAddColors()
	for _, mode := range []int{0, 2, 3, 4, 8, 9} {
		vp8lPredictApart(mode)
	}
	vp8lPredictLeft()
	for _, mode := range []int{5, 6, 7, 10, 11, 12, 13} {
		vp8lPredictChain(mode)
	}
}

func vp8lAddGreen() {
	const no = -1
	shuffle("vp8lGreen", 1, no, 1, no, 5, no, 5, no, 9, no, 9, no, 13, no, 13, no)
	text("vp8lAddGreenSIMD", 16, "func vp8lAddGreenSIMD(pixels *uint32, n int)")
	const at, order = R(0), V(4)
	p("MOVD pixels+0(FP), R0")
	p("MOVD n+8(FP), R1")
	p("MOVD $vp8lGreen<>(SB), R2")
	ldr(4, order, 2, 0)
	label("loop")
	ld1(2, V(0).b16(), at, 0)
	for i := range V(2) {
		tbl(2+i, i, 1, order)
	}
	for i := range V(2) {
		add(i.b16(), i.b16(), (2 + i).b16())
	}
	st1(2, V(0).b16(), at, 32)
	p("SUBS $8, R1")
	p("BNE loop")
	p("RET")
}

// vp8lAddColors multiplies signed bytes, which are the high ones of words, by
// the factors times 4. sqdmulh doubles the products, and their high words are
// those shifted by 5.
func vp8lAddColors() {
	const no = -1
	shuffle("vp8lColors", no, 1, no, 1, no, 5, no, 5, no, 9, no, 9, no, 13, no, 13,
		no, 2, no, no, no, 6, no, no, no, 10, no, no, no, 14, no, no)
	text("vp8lAddColorsSIMD", 24, "func vp8lAddColorsSIMD(pixels *uint32, n int, factors, redBlue uint32)")
	const at, green, red, factors, redBlue, low = R(0), V(4), V(5), V(6), V(7), V(3)
	p("MOVD pixels+0(FP), R0")
	p("MOVD n+8(FP), R1")
	p("MOVWU factors+16(FP), R2")
	p("MOVWU redBlue+20(FP), R3")
	dupR(factors.s4(), 2)
	dupR(redBlue.s4(), 3)
	sshr(factors.h8(), factors.h8(), 1)
	sshr(redBlue.h8(), redBlue.h8(), 1)
	movi(low.b16(), 255)
	ushr(low.h8(), low.h8(), 8)
	p("MOVD $vp8lColors<>(SB), R4")
	ld1(2, green.b16(), 4, 0)
	label("loop")
	const v, t = V(0), V(1)
	ldr(4, v, at, 0)
	for _, from := range []struct{ order, factors V }{{green, factors}, {red, redBlue}} {
		tbl(t, v, 1, from.order)
		sqdmulh(t.h8(), t.h8(), from.factors.h8())
		and(t.b16(), t.b16(), low.b16())
		add(v.b16(), v.b16(), t.b16())
	}
	strPost(4, v, at, 16)
	p("SUBS $4, R1")
	p("BNE loop")
	p("RET")
}

// vp8lPredictText starts the function of a predictor. The neighbours above are
// at R2 to R4: to the left, above, and to the right.
func vp8lPredictText(mode int) {
	name := fmt.Sprintf("vp8lPredict%dSIMD", mode)
	text(name, 24, "func "+name+"(row, up *uint32, n int)")
	p("MOVD row+0(FP), R0")
	p("MOVD up+8(FP), R3")
	p("MOVD n+16(FP), R1")
	p("SUB $4, R3, R2")
	p("ADD $4, R3, R4")
}

// vp8lPredictApart writes a predictor that does not depend on the pixel to the
// left. It takes 8 pixels at a time, and the rest one by one.
func vp8lPredictApart(mode int) {
	vp8lPredictText(mode)
	const row, corner, top, right = R(0), R(2), R(3), R(4)
	const v, a, b = V(0), V(2), V(4)
	if mode == 0 {
		movi(a.b16(), 255)
		shl(a.s4(), a.s4(), 24) // black
		mov(a+1, a)
	}
	load := func(n int, v V, from R) {
		if n == 1 {
			ldrPost(2, v, from, 4)
		} else {
			ld1(2, v.b16(), from, 32)
		}
	}
	step := func(n int) {
		if n == 1 {
			ldr(2, v, row, 0)
		} else {
			ld1(2, v.b16(), row, 0)
		}
		switch mode {
		case 2:
			load(n, a, top)
		case 3:
			load(n, a, right)
		case 4:
			load(n, a, corner)
		case 8:
			load(n, a, corner)
			load(n, b, top)
		case 9:
			load(n, a, top)
			load(n, b, right)
		}
		for i := range V((n + 7) / 8 * 2) {
			if n == 1 && i > 0 {
				break
			}
			if mode >= 8 {
				uhadd((a + i).b16(), (a + i).b16(), (b + i).b16())
			}
			add((v + i).b16(), (v + i).b16(), (a + i).b16())
		}
		if n == 1 {
			strPost(2, v, row, 4)
		} else {
			st1(2, v.b16(), row, 32)
		}
	}
	p("SUBS $8, R1")
	p("BLT rest")
	label("loop")
	step(8)
	p("SUBS $8, R1")
	p("BGE loop")
	label("rest")
	p("ADDS $8, R1")
	p("BEQ done")
	label("one")
	step(1)
	p("SUBS $1, R1")
	p("BNE one")
	label("done")
	p("RET")
}

// vp8lPredictLeft writes predictor 1, the pixel to the left: sums of pairs, of
// fours, and the last pixel before them.
func vp8lPredictLeft() {
	vp8lPredictText(1)
	const row, last, v, t, zero = R(0), V(0), V(1), V(2), V(3)
	p("SUB $4, R0, R2")
	ld1r(last.s4(), 2)
	movi(zero.b16(), 0)
	p("SUBS $4, R1")
	p("BLT rest")
	label("loop")
	ldr(4, v, row, 0)
	ext(t, zero, v, 12)
	add(v.b16(), v.b16(), t.b16())
	ext(t, zero, v, 8)
	add(v.b16(), v.b16(), t.b16())
	add(v.b16(), v.b16(), last.b16())
	strPost(4, v, row, 16)
	dup(last.s4(), v.s(3))
	p("SUBS $4, R1")
	p("BGE loop")
	label("rest")
	p("ADDS $4, R1")
	p("BEQ done")
	label("one")
	ldr(2, v, row, 0)
	add(last.b8(), last.b8(), v.b8())
	strPost(2, last, row, 4)
	p("SUBS $1, R1")
	p("BNE one")
	label("done")
	p("RET")
}

// vp8lPredictChain writes a predictor that depends on the pixel to the left. It
// takes one pixel at a time; four of them are loaded together.
func vp8lPredictChain(mode int) {
	vp8lPredictText(mode)
	const row, corner, top, right, before = R(0), R(2), R(3), R(4), R(5)
	const left, t, u = V(0), V(1), V(2)
	const v, c, a, r = V(16), V(20), V(24), V(28) // four each: the pixels, and those above
	p("SUB $4, R0, R5")
	ldr(2, left, before, 0)
	step := func(n V) {
		for i := range n {
			ldr(2, v+i, row, 4*int(i))
			if mode == 6 || mode >= 10 {
				ldrPost(2, c+i, corner, 4)
			}
			if mode != 6 {
				ldrPost(2, a+i, top, 4)
			}
			if mode == 5 || mode == 10 {
				ldrPost(2, r+i, right, 4)
			}
		}
		for i := range n { // these do not wait for pixels to the left
			switch mode {
			case 10:
				uhadd((a + i).b8(), (a + i).b8(), (r + i).b8())
			case 11:
				uabd((r + i).b8(), (a + i).b8(), (c + i).b8())
				uaddlp((r + i).h4(), (r + i).b8())
				uaddlp((r + i).s2(), (r + i).h4())
			case 12:
				usubl((r + i).h8(), (a + i).b8(), (c + i).b8())
			}
		}
		for i := range n {
			add := func(p V) { add(left.b8(), (v + i).b8(), p.b8()) }
			switch mode {
			case 5:
				uhadd(t.b8(), left.b8(), (r + i).b8())
				uhadd(t.b8(), t.b8(), (a + i).b8())
				add(t)
			case 6:
				uhadd(t.b8(), left.b8(), (c + i).b8())
				add(t)
			case 7:
				uhadd(t.b8(), left.b8(), (a + i).b8())
				add(t)
			case 10:
				uhadd(t.b8(), left.b8(), (c + i).b8())
				uhadd(t.b8(), t.b8(), (a + i).b8())
				add(t)
			case 11: // the one of left and top that is farther from the corner
				uabd(t.b8(), left.b8(), (c + i).b8())
				uaddlp(t.h4(), t.b8())
				uaddlp(t.s2(), t.h4())
				cmhi(t.s2(), t.s2(), (r + i).s2())
				bsl(t.b8(), left.b8(), (a + i).b8())
				add(t)
			case 12:
				uaddw(t.h8(), (r + i).h8(), left.b8())
				sqxtun(t.b8(), t.h8())
				add(t)
			case 13: // half the distance to the corner, rounded down
				uhadd(t.b8(), left.b8(), (a + i).b8())
				uqsub(u.b8(), t.b8(), (c + i).b8())
				uqsub((c + i).b8(), (c + i).b8(), t.b8())
				ushr(u.b8(), u.b8(), 1)
				ushr((c + i).b8(), (c + i).b8(), 1)
				uqadd(t.b8(), t.b8(), u.b8())
				uqsub(t.b8(), t.b8(), (c + i).b8())
				add(t)
			}
			strPost(2, left, row, 4)
		}
	}
	p("SUBS $4, R1")
	p("BLT rest")
	label("loop")
	step(4)
	p("SUBS $4, R1")
	p("BGE loop")
	label("rest")
	p("ADDS $4, R1")
	p("BEQ done")
	label("one")
	step(1)
	p("SUBS $1, R1")
	p("BNE one")
	label("done")
	p("RET")
}
