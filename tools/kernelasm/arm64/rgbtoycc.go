package main

import "fmt"

// rgbToYCC converts 16 pixels at a time. If their number is not a multiple of
// 16, the last 16 overlap the previous ones. All sums are positive.
func rgbToYCC() {
	halves("rgbFactors", 19595, 38470, 7471, 11059, 21709, 32768, 27439, 5329)
	text("rgbToYCCSIMD", 40, "func rgbToYCCSIMD(y, cb, cr, rgb *byte, n int)")
	p("MOVD y+0(FP), R0")
	p("MOVD cb+8(FP), R1")
	p("MOVD cr+16(FP), R2")
	p("MOVD rgb+24(FP), R3")
	p("MOVD n+32(FP), R4")
	p("MOVD $rgbFactors<>(SB), R7")
	p("MOVD $%d, R8", 128<<16+1<<15-1)
	const factors, round = V(0), V(1)
	ld1(1, factors.h8(), 7, 0)
	dupR(round.s4(), 8)
	label("loop")
	p("CMP $16, R4")
	p("BGE whole")
	p("SUB $16, R4, R8")
	for i := range 3 {
		p("ADD R8, R%d", i)
	}
	p("ADD R8<<1, R8")
	p("ADD R8, R3")
	p("MOVD $16, R4")
	label("whole")
	const bytes, words, sums, out = V(2), V(16), V(20), V(5)
	ld3(bytes.b16(), 3, 48)
	for half := range 2 {
		part := func(v V) vec {
			if half == 0 {
				return v.b8()
			}
			return v.b16()
		}
		for c := range V(3) {
			ushll((words + c).h8(), part(bytes+c), 0)
		}
		for quarter := range V(2) {
			word := func(c V) vec { return dctHalf(words+c, int(quarter)) }
			const r, g, b = 0, 1, 2
			y, cb, cr := sums+3*quarter, sums+3*quarter+1, sums+3*quarter+2
			mov(cb, round)
			mov(cr, round)
			umullBy(y.s4(), word(r), factors.h(0))
			umlalBy(cb.s4(), word(b), factors.h(5))
			umlalBy(cr.s4(), word(r), factors.h(5))
			umlalBy(y.s4(), word(g), factors.h(1))
			umlslBy(cb.s4(), word(r), factors.h(3))
			umlslBy(cr.s4(), word(g), factors.h(6))
			umlalBy(y.s4(), word(b), factors.h(2))
			umlslBy(cb.s4(), word(g), factors.h(4))
			umlslBy(cr.s4(), word(b), factors.h(7))
		}
		for c := range V(3) {
			lo, hi := sums+c, sums+3+c
			if c == 0 {
				rshrn(lo.h4(), lo.s4(), 16)
				rshrn(lo.h8(), hi.s4(), 16)
			} else {
				shrn(lo.h4(), lo.s4(), 16)
				shrn(lo.h8(), hi.s4(), 16)
			}
			xtn(part(out+c), lo.h8())
		}
	}
	for c := range V(3) {
		st1(1, (out + c).b16(), R(c), 16)
	}
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}

// downsample writes DownsampleH2V1 and DownsampleH2V2, 16 samples at a time.
// If their number is not a multiple of 16, the last 16 overlap the previous
// ones; it is even, so that the halves are rounded in the same direction.
func downsample() {
	for rows := 1; rows <= 2; rows++ {
		name := fmt.Sprintf("downsampleH2V%dSIMD", rows)
		n := R(1 + rows)
		if rows == 1 {
			text(name, 24, "func "+name+"(dst, a *byte, n int)")
		} else {
			text(name, 32, "func "+name+"(dst, a, b *byte, n int)")
		}
		p("MOVD dst+0(FP), R0")
		p("MOVD a+8(FP), R1")
		if rows == 2 {
			p("MOVD b+16(FP), R2")
		}
		p("MOVD n+%d(FP), R%d", 8+8*rows, n)
		p("MOVD $0x%x, R8", []int{1: 1 << 16, 2: 2<<16 + 1}[rows])
		const bias, a, b = V(0), V(2), V(4)
		dupR(bias.s4(), 8)
		label("loop")
		p("CMP $16, R%d", n)
		p("BGE whole")
		p("SUB $16, R%d, R8", n)
		p("ADD R8, R0")
		for i := range rows {
			p("ADD R8<<1, R%d", 1+i)
		}
		p("MOVD $16, R%d", n)
		label("whole")
		ld1(2, a.b16(), 1, 32)
		if rows == 2 {
			ld1(2, b.b16(), 2, 32)
		}
		for i := range V(2) {
			uaddlp((a + i).h8(), (a + i).b16())
		}
		for i := range V(2) {
			if rows == 2 {
				uadalp((a + i).h8(), (b + i).b16())
			}
			add((a + i).h8(), (a + i).h8(), bias.h8())
		}
		shrn(a.b8(), a.h8(), rows)
		shrn(a.b16(), (a + 1).h8(), rows)
		st1(1, a.b16(), 0, 16)
		p("SUBS $16, R%d", n)
		p("BNE loop")
		p("RET")
	}
}
