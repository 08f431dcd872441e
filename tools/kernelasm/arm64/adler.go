package main

// adler sums 32 bytes at a time: each column apart, and the first sum before
// each 32 bytes, which the second counts 32 times. The columns are then
// multiplied by 32 to 1. Their 16 bits suffice for 257 times 32 bytes.
func adler() {
	var weights []int
	for i := range 32 {
		weights = append(weights, 32-i)
	}
	halves("adler", weights...)
	text("adlerSIMD", 24, "func adlerSIMD(p *byte, n int, sums *[2]uint32)")
	const src, sums = R(0), R(2)
	p("MOVD p+0(FP), R0")
	p("MOVD n+8(FP), R1")
	p("MOVD sums+16(FP), R2")
	p("MOVD $adler<>(SB), R3")
	p("MOVWU (R2), R4")
	p("MOVWU 4(R2), R5")
	p("MADD R1, R5, R4, R5")
	const first, second, columns, t = V(2), V(3), V(16), V(4) // columns to 19
	for _, v := range []V{first, second, columns, columns + 1, columns + 2, columns + 3} {
		movi(v.b16(), 0)
	}
	label("loop")
	ld1(2, V(0).b16(), src, 32)
	add(second.s4(), second.s4(), first.s4())
	uaddlp(t.h8(), V(0).b16())
	uaddw(columns.h8(), columns.h8(), V(0).b8())
	uaddw((columns + 1).h8(), (columns + 1).h8(), V(0).b16())
	uadalp(t.h8(), V(1).b16())
	uaddw((columns + 2).h8(), (columns + 2).h8(), V(1).b8())
	uaddw((columns + 3).h8(), (columns + 3).h8(), V(1).b16())
	uadalp(first.s4(), t.h8())
	p("SUBS $32, R1")
	p("BNE loop")
	ld1(4, V(20).h8(), 3, 0)
	shl(second.s4(), second.s4(), 5)
	for i := range V(4) {
		umlal(second.s4(), (columns + i).h4(), (20 + i).h4())
		umlal(second.s4(), (columns + i).h8(), (20 + i).h8())
	}
	addv(0, first.s4())
	addv(1, second.s4())
	p("VMOV V0.S[0], R6")
	p("VMOV V1.S[0], R7")
	p("ADDW R6, R4")
	p("ADDW R7, R5")
	p("STPW (R4, R5), (R2)")
	p("RET")
}
