package main

// The constants of idct.go of package kernel.
const (
	f0298, f0390, f0541, f0765, f0899, f1175 = 2446, 3196, 4433, 6270, 7373, 9633
	f1501, f1847, f1961, f2053, f2562, f3072 = 12299, 15137, 16069, 16819, 20995, 25172
)

// dctFactors holds the lanes of registers 0 and 1: those of a whole transform,
// and four more for a transform whose last four inputs are 0.
var dctFactors = []int{
	f0541, f0541 - f1847, f0541 + f0765, f1175 - f1961, f1175, f1175 - f0390, f0298 - f0899, -f0899,
	f2053 - f2562, -f2562, f3072 - f2562, f1501 - f0899,
	f1175 - f0899, f1175 - f2562, f3072 - f2562 + f1175 - f1961, f1501 - f0899 + f1175 - f0390,
}

func factor(v int) lane {
	for i, f := range dctFactors {
		if f == v {
			return V(i / 8).h(i % 8)
		}
	}
	panic("no such factor")
}

// products sums the products of registers with factors. If more is set, it adds
// them to d.
func products(half int, d V, more bool, terms ...any) {
	for i := 0; i < len(terms); i += 2 {
		n, f := dctHalf(terms[i].(V), half), factor(terms[i+1].(int))
		if i == 0 && !more {
			smullBy(d.s4(), n, f)
		} else {
			smlalBy(d.s4(), n, f)
		}
	}
}

func dctHalf(v V, half int) vec {
	if half == 0 {
		return v.h4()
	}
	return v.h8()
}

// dctSink receives the outputs of a pass. Output i of half 0 or 1 goes to
// register to(half, i). put then processes it.
type dctSink struct {
	to  func(half, i int) V
	put func(half, i int, v V)
}

// end computes outputs i and 7-i: the sum and the difference of e and o.
func (s dctSink) end(half int, e, o [4]V) {
	for i := range e {
		sum, dif := s.to(half, i), s.to(half, 7-i)
		add(sum.s4(), e[i].s4(), o[i].s4())
		sub(dif.s4(), e[i].s4(), o[i].s4())
		s.put(half, i, sum)
		s.put(half, 7-i, dif)
	}
}

// dctSpare returns a spare register for output i.
func dctSpare(i int) V { return V(14 + i/4) }

// dctWhole is dct1 of idct.go of package kernel over the eight registers from
// in on. It overwrites them.
func dctWhole(in V, s dctSink) {
	const sum, z3, z4 = V(2), V(3), V(4)
	dif := in + 4
	add(z3.h8(), (in + 7).h8(), (in + 3).h8())
	add(z4.h8(), (in + 5).h8(), (in + 1).h8())
	add(sum.h8(), in.h8(), (in + 4).h8())
	sub(dif.h8(), in.h8(), (in + 4).h8())
	for half := range 2 {
		const u2, u3, u0, u1, t3, t2, t0, t1, e0 = V(5), V(6), V(7), V(8), V(9), V(10), V(11), V(12), V(13)
		products(half, u2, false, z3, f1175-f1961, z4, f1175)
		products(half, u3, false, z3, f1175, z4, f1175-f0390)
		products(half, t3, false, in+2, f0541+f0765, in+6, f0541)
		products(half, t2, false, in+2, f0541, in+6, f0541-f1847)
		mov(u0, u2)
		mov(u1, u3)
		sshll(t0.s4(), dctHalf(sum, half), 13)
		sshll(t1.s4(), dctHalf(dif, half), 13)
		products(half, u3, true, in+1, f1501-f0899, in+7, -f0899)
		products(half, u2, true, in+3, f3072-f2562, in+5, -f2562)
		add(e0.s4(), t0.s4(), t3.s4())
		sub(t0.s4(), t0.s4(), t3.s4())
		products(half, u1, true, in+5, f2053-f2562, in+3, -f2562)
		products(half, u0, true, in+7, f0298-f0899, in+1, -f0899)
		add(t3.s4(), t1.s4(), t2.s4())
		sub(t1.s4(), t1.s4(), t2.s4())
		s.end(half, [4]V{e0, t3, t1, t0}, [4]V{u3, u2, u1, u0})
	}
}

// dctQuarter is dct1 for inputs whose last four values are 0.
func dctQuarter(in V, half int, s dctSink) {
	const u2, u3, u0, u1, t3, t2, t0, e0, e1 = V(5), V(6), V(7), V(8), V(9), V(10), V(11), V(12), V(13)
	products(half, t3, false, in+2, f0541+f0765)
	products(half, t2, false, in+2, f0541)
	sshll(t0.s4(), dctHalf(in, half), 13)
	products(half, u3, false, in+1, f1501-f0899+f1175-f0390, in+3, f1175)
	products(half, u2, false, in+1, f1175, in+3, f3072-f2562+f1175-f1961)
	products(half, u1, false, in+1, f1175-f0390, in+3, f1175-f2562)
	products(half, u0, false, in+1, f1175-f0899, in+3, f1175-f1961)
	add(e0.s4(), t0.s4(), t3.s4())
	sub(t3.s4(), t0.s4(), t3.s4())
	add(e1.s4(), t0.s4(), t2.s4())
	sub(t2.s4(), t0.s4(), t2.s4())
	s.end(half, [4]V{e0, e1, t2, t3}, [4]V{u3, u2, u1, u0})
}

// idct transforms a row of blocks. A lane is a column of the block in the first
// pass and a row in the second. No sum of dct1 reaches 2^31 - 2^17; the largest
// is 8192+15137+41241 times 2^15. Shifts that round without wrapping therefore
// return the reference's values.
func idct() {
	const in, out = V(16), V(24)
	const dst, stride, coef, quant, last, at, factors, sign = R(0), R(1), R(2), R(3), R(4), R(6), R(7), V(15)
	halves("dct", dctFactors...)
	text("idctRowSIMD", 48, "func idctRowSIMD(dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD stride+8(FP), R1")
	p("MOVD coef+16(FP), R2")
	p("MOVD quant+24(FP), R3")
	p("MOVD last+32(FP), R4")
	p("MOVD n+40(FP), R5")
	p("MOVD $dct<>(SB), R7")
	ld1(2, V(0).h8(), factors, 0)

	label("block")
	p("MOVBU.P 1(R4), R8")
	p("CBZ R8, dc")
	p("CMP $9, R8")
	p("BHI whole")

	// Four rows of four columns: the first ten coefficients in zigzag order.
	for r := range 4 {
		ldr(3, in+V(r), coef, 16*r)
		ldr(3, out+V(r), quant, 16*r)
	}
	const any = V(2)
	orr(any.b8(), (in + 1).b8(), (in + 2).b8())
	orr(any.b8(), any.b8(), (in + 3).b8())
	umovD(9, any.d(0))
	for r := range 4 {
		mul((in + V(r)).h4(), (in + V(r)).h4(), (out + V(r)).h4())
	}
	p("CBZ R9, quarterFlat")
	// Rows r and r+4 share a register.
	dctQuarter(in, 0, dctSink{
		func(_, i int) V { return out + V(i) },
		func(_, i int, v V) {
			if i < 4 {
				sqrshrn(v.h4(), v.s4(), 11)
			}
		},
	})
	for i := range V(4) {
		sqrshrn((out + i).h8(), (out + i + 4).s4(), 11)
	}
	label("quarter")
	const a = V(2)
	trn1(a.h8(), out.h8(), (out + 1).h8())
	trn2((a + 1).h8(), out.h8(), (out + 1).h8())
	trn1((a + 2).h8(), (out + 2).h8(), (out + 3).h8())
	trn2((a + 3).h8(), (out + 2).h8(), (out + 3).h8())
	trn1(in.s4(), a.s4(), (a + 2).s4())
	trn1((in + 1).s4(), (a + 1).s4(), (a + 3).s4())
	trn2((in + 2).s4(), a.s4(), (a + 2).s4())
	trn2((in + 3).s4(), (a + 1).s4(), (a + 3).s4())
	second := dctSink{
		func(half, i int) V {
			if half == 0 {
				return out + V(i)
			}
			return dctSpare(i)
		},
		// Take the upper halves of all sums. The remaining two bits are dropped
		// later.
		func(half, i int, v V) {
			if half == 1 {
				uzp2((out + V(i)).h8(), (out + V(i)).h8(), v.h8())
			}
		},
	}
	dctQuarter(in, 0, second)
	dctQuarter(in, 1, second)
	p("B store")

	label("whole")
	ld1(4, in.h8(), coef, 0)
	p("ADD $64, R2, R6")
	ld1(4, (in + 4).h8(), at, 0)
	ld1(4, out.h8(), quant, 0)
	p("ADD $64, R3, R6")
	ld1(4, (out + 4).h8(), at, 0)
	orr(any.b16(), (in + 1).b16(), (in + 2).b16())
	for r := V(3); r < 8; r++ {
		orr(any.b16(), any.b16(), (in + r).b16())
	}
	umovD(8, any.d(0))
	umovD(9, any.d(1))
	for r := range V(8) {
		mul((in + r).h8(), (in + r).h8(), (out + r).h8())
	}
	p("ORR R8, R9")
	p("CBZ R9, flat")
	dctWhole(in, dctSink{
		func(_, i int) V { return dctSpare(i) },
		func(half, i int, v V) { sqrshrn(dctHalf(out+V(i), half), v.s4(), 11) },
	})
	label("transpose")
	for i := V(0); i < 8; i += 2 {
		trn1((a + i).h8(), (out + i).h8(), (out + i + 1).h8())
		trn2((a + i + 1).h8(), (out + i).h8(), (out + i + 1).h8())
	}
	for _, i := range []V{0, 1, 4, 5} {
		trn1((out + i).s4(), (a + i).s4(), (a + i + 2).s4())
		trn2((out + i + 2).s4(), (a + i).s4(), (a + i + 2).s4())
	}
	for i := range V(4) {
		trn1((in + i).d2(), (out + i).d2(), (out + i + 4).d2())
		trn2((in + i + 4).d2(), (out + i).d2(), (out + i + 4).d2())
	}
	dctWhole(in, second)

	label("store")
	// Transpose the columns x and x+4 of eight rows.
	for i := range V(4) {
		sqrshrn((in + i).b8(), (out + i).h8(), 2)
		sqrshrn((in + i).b16(), (out + i + 4).h8(), 2)
	}
	trn1(a.b16(), in.b16(), (in + 1).b16())
	trn2((a + 1).b16(), in.b16(), (in + 1).b16())
	trn1((a + 2).b16(), (in + 2).b16(), (in + 3).b16())
	trn2((a + 3).b16(), (in + 2).b16(), (in + 3).b16())
	movi(sign.b16(), 0x80)
	trn1(in.h8(), a.h8(), (a + 2).h8())             // rows 0 and 4
	trn2((in + 1).h8(), a.h8(), (a + 2).h8())       // rows 2 and 6
	trn1((in + 2).h8(), (a + 1).h8(), (a + 3).h8()) // rows 1 and 5
	trn2((in + 3).h8(), (a + 1).h8(), (a + 3).h8()) // rows 3 and 7
	uzp1(a.s4(), in.s4(), (in + 2).s4())
	uzp1((a + 1).s4(), (in + 1).s4(), (in + 3).s4())
	uzp2((a + 2).s4(), in.s4(), (in + 2).s4())
	uzp2((a + 3).s4(), (in + 1).s4(), (in + 3).s4())
	p("MOVD R0, R6")
	for i := range V(4) {
		eor((a + i).b16(), (a + i).b16(), sign.b16())
	}
	for i := range V(4) {
		str(3, a+i, at, 0)
		p("ADD R1, R6")
		st1Lane((a + i).d(1), at)
		if i < 3 {
			p("ADD R1, R6")
		}
	}
	label("next")
	p("ADD $8, R0")
	p("ADD $128, R2")
	p("SUBS $1, R5")
	p("BNE block")
	p("RET")

	// Only the first row is nonzero: libjpeg's SIMD code shifts it within 16
	// bits.
	label("quarterFlat")
	shl(in.h4(), in.h4(), 2)
	for i := range V(4) {
		dup((out + i).d2(), in.d(0))
	}
	p("B quarter")
	label("flat")
	shl(in.h8(), in.h8(), 2)
	for i := range V(8) {
		mov(out+i, in)
	}
	p("B transpose")

	label("dc")
	ld1r(a.h8(), coef)
	ld1r((a + 1).h8(), quant)
	movi(sign.b16(), 0x80)
	mul(a.h8(), a.h8(), (a + 1).h8())
	p("MOVD R0, R6")
	shl(a.h8(), a.h8(), 2)
	sqrshrn(a.b8(), a.h8(), 5)
	eor(a.b8(), a.b8(), sign.b8())
	for i := range 8 {
		str(3, a, at, 0)
		if i < 7 {
			p("ADD R1, R6")
		}
	}
	p("B next")
}
