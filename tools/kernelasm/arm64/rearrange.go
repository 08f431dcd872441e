package main

// rearrange permutes 16 bytes and adds constants, twice a round.
func rearrange() {
	text("rearrangeSIMD", 56, "func rearrangeSIMD(dst, src *byte, n int, order, fill *[16]uint8, from, to int)")
	const dst, src, from, to = R(0), R(1), R(5), R(6)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD order+24(FP), R3")
	p("MOVD fill+32(FP), R4")
	p("MOVD from+40(FP), R5")
	p("MOVD to+48(FP), R6")
	const v, order, fill = V(0), V(2), V(3)
	ldr(4, order, 3, 0)
	ldr(4, fill, 4, 0)
	label("loop")
	for i := range V(2) {
		ld1Step((v + i).b16(), src, from)
	}
	for i := range V(2) {
		tbl(v+i, v+i, 1, order)
		orr((v + i).b16(), (v + i).b16(), fill.b16())
		st1Step((v + i).b16(), dst, to)
	}
	p("SUBS $2, R2")
	p("BNE loop")
	p("RET")
}
