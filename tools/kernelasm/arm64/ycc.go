package main

// ycc converts 16 pixels at a time. If their number is not a multiple of 16,
// the last 16 overlap the previous ones. The factors are those of ycc.go minus
// integers, so that they fit 16 bits:
//
//	R = Y + Cr + round(26345 Cr), B = Y + 2 Cb + round(-14942 Cb),
//	G = Y - Cr + round(-22554 Cb + 18734 Cr), in 65536ths.
//
// round(f x / 65536) is (floor(2 f x / 65536) + 1) / 2, which sqdmulh and srsra
// compute.
func ycc() {
	halves("ycc", 26345, -14942, -22554, 18734)
	text("yccToRGBSIMD", 40, "func yccToRGBSIMD(dst, y, cb, cr *byte, n int)")
	const y, cb, cr, dst = R(0), R(1), R(2), R(3)
	p("MOVD dst+0(FP), R3")
	p("MOVD y+8(FP), R0")
	p("MOVD cb+16(FP), R1")
	p("MOVD cr+24(FP), R2")
	p("MOVD n+32(FP), R6")
	p("MOVD $ycc<>(SB), R7")
	const factors, bias = V(0), V(1)
	const vy, vb, vr = V(2), V(3), V(4)
	ldr(3, factors, 7, 0)
	movi(bias.b16(), 128)
	label("loop")
	p("CMP $16, R6")
	p("BGE whole")
	p("SUB $16, R6, R8")
	for i := range 4 {
		p("ADD R8, R%d", i)
	}
	p("ADD R8<<1, R%d", dst)
	p("MOVD $16, R6")
	label("whole")
	ld1(1, vb.b16(), cb, 16)
	ld1(1, vr.b16(), cr, 16)
	ld1(1, vy.b16(), y, 16)
	const bytes = V(24) // and 25, 26
	for half := range 2 {
		part := func(v V) vec {
			if half == 0 {
				return v.b8()
			}
			return v.b16()
		}
		at := V(8 * half)
		b, r, t, red, blue, g := 5+at, 6+at, 7+at, 8+at, 9+at, 10+at
		g2 := 11 + at
		usubl(r.h8(), part(vr), part(bias))
		usubl(b.h8(), part(vb), part(bias))
		sqdmulhBy(t.h8(), r.h8(), factors.h(0))
		uaddw(red.h8(), r.h8(), part(vy))
		smullBy(g.s4(), b.h4(), factors.h(2))
		smullBy(g2.s4(), b.h8(), factors.h(2))
		srsra(red.h8(), t.h8(), 1)
		sqdmulhBy(t.h8(), b.h8(), factors.h(1))
		uaddw(blue.h8(), b.h8(), part(vy))
		smlalBy(g.s4(), r.h4(), factors.h(3))
		smlalBy(g2.s4(), r.h8(), factors.h(3))
		add(blue.h8(), blue.h8(), b.h8())
		srsra(blue.h8(), t.h8(), 1)
		rshrn(g.h4(), g.s4(), 16)
		rshrn(g.h8(), g2.s4(), 16)
		uaddw(g.h8(), g.h8(), part(vy))
		sub(g.h8(), g.h8(), r.h8())
		sqxtun(part(bytes), red.h8())
		sqxtun(part(bytes+1), g.h8())
		sqxtun(part(bytes+2), blue.h8())
	}
	st3(bytes.b16(), dst, 48)
	p("SUBS $16, R6")
	p("BNE loop")
	p("RET")
}
