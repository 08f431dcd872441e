package main

// predict computes two pixels of 3 samples of 16 bits at a time: each plus the
// one before it within the register, then plus the last sum.
func predict() {
	var order []int
	for i := range 16 {
		at := 6 + i%6
		if i >= 12 {
			at = -1
		}
		order = append(order, at)
	}
	shuffle("predictRepeat", order...)
	text("addLeft16NEON", 16, "func addLeft16NEON(row *byte, n int)")
	p("MOVD row+0(FP), R0")
	p("MOVD n+8(FP), R1")
	p("MOVD $predictRepeat<>(SB), R2")
	const repeat, sum, zero, v, left = V(0), V(1), V(2), V(3), V(4)
	ld1(1, repeat.b16(), 2, 0)
	movi(sum.b16(), 0)
	movi(zero.b16(), 0)
	label("loop")
	ld1(1, v.b16(), 0, 0)
	ext(left, zero, v, 10)
	add(v.h8(), v.h8(), left.h8())
	add(v.h8(), v.h8(), sum.h8())
	tbl(sum, v, 1, repeat)
	p("ADD $8, R0, R3")
	st1Lane(v.d(0), 0)
	st1Lane(v.s(2), 3)
	p("ADD $12, R0")
	p("SUBS $12, R1")
	p("BNE loop")
	p("RET")
}
