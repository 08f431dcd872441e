package main

// findWord compares 64 bytes at a time.
func findWord() {
	text("findWordNEON", 32, "func findWordNEON(b *byte, n int, w uint32) int")
	const at, word = R(0), V(16)
	p("MOVD b+0(FP), R0")
	p("MOVD n+8(FP), R1")
	p("MOVWU w+16(FP), R2")
	dupR(word.s4(), 2)
	p("MOVD R0, R3")
	p("ADD R0, R1")
	label("loop")
	ld1(4, V(0).b16(), at, 0)
	for i := range V(4) {
		cmeq(i.s4(), i.s4(), word.s4())
	}
	orr(V(0).b16(), V(0).b16(), V(1).b16())
	orr(V(2).b16(), V(2).b16(), V(3).b16())
	orr(V(0).b16(), V(0).b16(), V(2).b16())
	xtn(V(0).h4(), V(0).s4())
	p("VMOV V0.D[0], R4")
	p("CBNZ R4, done")
	p("ADD $64, R0")
	p("CMP R1, R0")
	p("BLO loop")
	label("done")
	p("SUB R3, R0")
	p("MOVD R0, ret+24(FP)")
	p("RET")
}
