package main

// The constants of internal/kernel/idctreduced.go.
const (
	g0211, g0509, g0601, g0720, g0765, g0850 = 1730, 4176, 4926, 5906, 6270, 6967
	g0899, g1061, g1272, g1451, g1847, g2172 = 7373, 8697, 10426, 11893, 15137, 17799
	g2562, g3624                             = 20995, 29692
)

// dct4Factors holds the lanes of registers 0 and 1.
var dct4Factors = []int{
	g1847, -g0765, g1061, -g2172, g1451, -g0211, g2562, g0899,
	-g0601, -g0509, 0, 0, 0, 0, 0, 0,
}

// fill repeats the 32-bit v in a constant of 16 bytes.
func fill(v int) []int {
	return []int{v & 0xffff, v >> 16, v & 0xffff, v >> 16, v & 0xffff, v >> 16, v & 0xffff, v >> 16}
}

// rowArguments loads the arguments of a function that transforms a row of
// blocks.
func rowArguments(name string, last bool) {
	args, bytes, after := "dst *byte, stride int, coef, quant *[64]int16, n int", 40, 32
	if last {
		args, bytes, after = "dst *byte, stride int, coef, quant *[64]int16, last *uint8, n int", 48, 40
	}
	text(name, bytes, "func "+name+"("+args+")")
	p("MOVD dst+0(FP), R0")
	p("MOVD stride+8(FP), R1")
	p("MOVD coef+16(FP), R2")
	p("MOVD quant+24(FP), R3")
	if last {
		p("MOVD last+32(FP), R4")
	}
	p("MOVD n+%d(FP), R5", after)
}

// idct4 transforms blocks to half their size. Sums wrap around, also when the
// rounding half is added. The half is therefore added to the even part, and the
// shifts do not round.
func idct4() {
	var turn []byte // a 4 x 4 block of bytes
	for i := range byte(16) {
		turn = append(turn, i%4*4+i/4)
	}
	halves("dct4", append(append(append([]int{}, dct4Factors...), fill(1<<11)...), fill(1<<18)...)...)
	data("turn", turn)
	const coef, quant, at = R(2), R(3), R(6)
	const round1, round2, turned, sign, a = V(2), V(3), V(4), V(5), V(6)
	const in, out = V(16), V(24)
	rowArguments("idctRow4SIMD", true)
	p("MOVD $dct4<>(SB), R7")
	ld1(4, V(0).h8(), 7, 0)
	p("MOVD $turn<>(SB), R7")
	ldr(4, turned, 7, 0)
	movi(sign.b16(), 0x80)

	factor := func(v int) lane {
		for i, f := range dct4Factors {
			if f == v {
				return V(i / 8).h(i % 8)
			}
		}
		panic("no such factor")
	}
	// pass is dct4 for four columns. Input i is in(i), and the outputs go to
	// the registers from out on.
	pass := func(in func(i int) vec, round, out V) {
		const e, z, u0, u2, sum = V(10), V(11), V(12), V(13), V(14)
		sum4 := func(d V, terms ...int) {
			for i := 0; i < len(terms); i += 2 {
				if i == 0 {
					smullBy(d.s4(), in(terms[0]), factor(terms[1]))
				} else {
					smlalBy(d.s4(), in(terms[i]), factor(terms[i+1]))
				}
			}
		}
		sshll(e.s4(), in(0), 14)
		sum4(z, 2, g1847, 6, -g0765)
		add(e.s4(), e.s4(), round.s4())
		sum4(u2, 1, g2562, 3, g0899, 5, -g0601, 7, -g0509)
		sum4(u0, 1, g1061, 3, -g2172, 5, g1451, 7, -g0211)
		add(sum.s4(), e.s4(), z.s4())
		sub(e.s4(), e.s4(), z.s4())
		add(out.s4(), sum.s4(), u2.s4())
		sub((out + 3).s4(), sum.s4(), u2.s4())
		add((out + 1).s4(), e.s4(), u0.s4())
		sub((out + 2).s4(), e.s4(), u0.s4())
	}

	label("block")
	p("MOVBU.P 1(R4), R8")
	p("CBZ R8, dc")
	p("ADD $64, R2, R6")
	ld1(4, in.h8(), coef, 0)
	ld1(4, (in + 4).h8(), at, 0)
	p("ADD $64, R3, R6")
	ld1(4, out.h8(), quant, 0)
	ld1(4, (out + 4).h8(), at, 0)
	const any = a
	orr(any.b16(), (in + 1).b16(), (in + 2).b16())
	for _, r := range []V{3, 5, 6, 7} {
		orr(any.b16(), any.b16(), (in + r).b16())
	}
	umovD(8, any.d(0))
	umovD(9, any.d(1))
	for _, r := range []V{0, 1, 2, 3, 5, 6, 7} {
		mul((in + r).h8(), (in + r).h8(), (out + r).h8())
	}
	p("ORR R8, R9")
	p("CBZ R9, flat")
	pass(func(i int) vec { return (in + V(i)).h4() }, round1, out)
	pass(func(i int) vec { return (in + V(i)).h8() }, round1, out+4)
	for i := range V(4) {
		sqshrn((out + i).h4(), (out + i).s4(), 12)
		sqshrn((out + i).h8(), (out + 4 + i).s4(), 12)
	}
	label("transpose")
	trn1(a.h8(), out.h8(), (out + 1).h8())
	trn2((a + 1).h8(), out.h8(), (out + 1).h8())
	trn1((a + 2).h8(), (out + 2).h8(), (out + 3).h8())
	trn2((a + 3).h8(), (out + 2).h8(), (out + 3).h8())
	// Each register holds columns i and i+4.
	trn1(in.s4(), a.s4(), (a + 2).s4())
	trn1((in + 1).s4(), (a + 1).s4(), (a + 3).s4())
	trn2((in + 2).s4(), a.s4(), (a + 2).s4())
	trn2((in + 3).s4(), (a + 1).s4(), (a + 3).s4())
	pass(func(i int) vec {
		if i < 4 {
			return (in + V(i)).h4()
		}
		return (in + V(i-4)).h8()
	}, round2, out)
	// Take the upper halves of the sums, and drop three bits.
	uzp2(out.h8(), out.h8(), (out + 1).h8())
	uzp2((out + 1).h8(), (out + 2).h8(), (out + 3).h8())
	sqshrn(out.b8(), out.h8(), 3)
	sqshrn(out.b16(), (out + 1).h8(), 3)
	eor(out.b16(), out.b16(), sign.b16())
	tbl(out, out, 1, turned)
	label("store")
	p("MOVD R0, R6")
	for r := range 4 {
		st1Lane(out.s(r), at)
		if r < 3 {
			p("ADD R1, R6")
		}
	}
	p("ADD $4, R0")
	p("ADD $128, R2")
	p("SUBS $1, R5")
	p("BNE block")
	p("RET")

	// Only the first row is nonzero: libjpeg's SIMD code shifts it within 16
	// bits.
	label("flat")
	shl(in.h8(), in.h8(), 2)
	for i := range V(4) {
		mov(out+i, in)
	}
	p("B transpose")

	label("dc")
	ld1r(a.h8(), coef)
	ld1r((a + 1).h8(), quant)
	mul(a.h8(), a.h8(), (a + 1).h8())
	shl(a.h8(), a.h8(), 2)
	sqrshrn(out.b8(), a.h8(), 5)
	sqrshrn(out.b16(), a.h8(), 5)
	eor(out.b16(), out.b16(), sign.b16())
	p("B store")
}

// idct2 transforms blocks to a quarter of their size.
func idct2() {
	halves("dct2", append(append([]int{
		g3624, -g1272, g0850, -g0720, 0, 0, 0, 0,
		0, g3624, 0, -g1272, 0, g0850, 0, -g0720,
	}, fill(1<<12)...), fill(1<<19)...)...)
	const column, row, round1, round2, sign = V(0), V(1), V(2), V(3), V(4)
	const in, q, sum, dif, e = V(16), V(24), V(5), V(7), V(9)
	rowArguments("idctRow2NEON", false)
	p("MOVD $dct2<>(SB), R7")
	ld1(4, V(0).h8(), 7, 0)
	movi(sign.b16(), 0x80)
	rows := []int{0, 1, 3, 5, 7}
	for i, r := range rows {
		ldr(4, q+V(i), 3, 16*r)
	}
	label("block")
	for i, r := range rows {
		ldr(4, in+V(i), 2, 16*r)
	}
	for i := range V(5) {
		mul((in + i).h8(), (in + i).h8(), (q + i).h8())
	}
	for half := range 2 {
		o := V(10 + half)
		sshll(e.s4(), dctHalf(in, half), 15)
		for i := range 4 {
			if i == 0 {
				smullBy(o.s4(), dctHalf(in+1, half), column.h(0))
			} else {
				smlalBy(o.s4(), dctHalf(in+V(1+i), half), column.h(i))
			}
		}
		add(e.s4(), e.s4(), round1.s4())
		add((sum + V(half)).s4(), e.s4(), o.s4())
		sub((dif + V(half)).s4(), e.s4(), o.s4())
	}
	// The first values keep 32 bits, the others 16.
	zip1(e.s4(), sum.s4(), dif.s4())
	for _, v := range []V{sum, dif} {
		sqshrn(v.h4(), v.s4(), 13)
		sqshrn(v.h8(), (v + 1).s4(), 13)
		smull((v + 1).s4(), v.h4(), row.h4())
		smlal((v + 1).s4(), v.h8(), row.h8())
	}
	sshr(e.s4(), e.s4(), 13)
	addp((sum + 1).s4(), (sum + 1).s4(), (dif + 1).s4())
	shl(e.s4(), e.s4(), 15)
	addp((sum + 1).s4(), (sum + 1).s4(), (sum + 1).s4())
	add(e.s4(), e.s4(), round2.s4())
	add(dif.s4(), e.s4(), (sum + 1).s4())
	sub(sum.s4(), e.s4(), (sum + 1).s4())
	zip1(sum.s4(), dif.s4(), sum.s4())
	shrn(sum.h4(), sum.s4(), 16)
	sqshrn(sum.b8(), sum.h8(), 4)
	eor(sum.b8(), sum.b8(), sign.b8())
	umovD(8, sum.d(0))
	p("MOVH R8, (R0)")
	p("LSR $16, R8")
	p("MOVH R8, (R0)(R1)")
	p("ADD $2, R0")
	p("ADD $128, R2")
	p("SUBS $1, R5")
	p("BNE block")
	p("RET")
}
