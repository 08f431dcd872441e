package main

// fdct writes FDCTRow of fdct.go of package kernel, a block at a time. A lane
// is a row of the block in the first pass and a column in the second. All
// values between the passes fit 16 bits.
//
// The factors of the quotient, recip, are at least 2^15, so that they are
// recip-2^16 as signed lanes. Half of what sqdmulh returns is the upper half of
// a product; ssra adds it to the other factor, for the 2^16.
func fdct() {
	halves("fdctFactors", dctFactors...)
	var order, bit []byte
	for d := range 15 {
		for j := max(0, d-7); j <= min(d, 7); j++ {
			y := j
			if d%2 == 0 {
				y = d - j
			}
			order = append(order, byte(8*y+d-y))
		}
	}
	for i := range 16 {
		bit = append(bit, 1<<(i%8))
	}
	data("fdctZigzag", order)
	data("fdctBits", bit)

	text("fdctRowSIMD", 48, "func fdctRowSIMD(blocks *[64]int16, masks *uint64, src *byte, stride int, d *byte, n int)")
	p("MOVD blocks+0(FP), R0")
	p("MOVD masks+8(FP), R1")
	p("MOVD src+16(FP), R2")
	p("MOVD stride+24(FP), R3")
	p("MOVD d+32(FP), R4")
	p("MOVD n+40(FP), R5")
	p("MOVD $fdctFactors<>(SB), R8")
	p("MOVD $fdctBits<>(SB), R9")
	p("MOVD $fdctZigzag<>(SB), R7")
	const blocks, masks, row, zigzag = R(0), R(1), R(6), R(7)
	const center, bits, tmp = V(12), V(13), V(2)
	const lo, hi = V(16), V(24)
	ld1(2, V(0).h8(), 8, 0)
	ld1(1, bits.b16(), 9, 0)
	p("MOVD $1024, R8")
	dupR(center.h8(), 8)

	label("block")
	// Rows r and r+4 share a register.
	p("MOVD R2, R6")
	for i := range 8 {
		if i < 4 {
			ldr(3, tmp+V(i), row, 0)
		} else {
			ld1Lane((tmp + V(i-4)).d(1), row, 0)
		}
		if i < 7 {
			p("ADD R3, R6")
		}
	}
	// Transpose to columns 0 and 1, 2 and 3, 5 and 4, 7 and 6.
	const a = tmp + 4
	for i := V(0); i < 4; i += 2 {
		trn1((a + i).b16(), (tmp + i).b16(), (tmp + i + 1).b16())
		trn2((a + i + 1).b16(), (tmp + i).b16(), (tmp + i + 1).b16())
	}
	trn1(tmp.h8(), a.h8(), (a + 2).h8())
	trn1((tmp + 1).h8(), (a + 1).h8(), (a + 3).h8())
	trn2((tmp + 2).h8(), a.h8(), (a + 2).h8())
	trn2((tmp + 3).h8(), (a + 1).h8(), (a + 3).h8())
	uzp1(a.s4(), tmp.s4(), (tmp + 1).s4())
	uzp1((a + 1).s4(), (tmp + 2).s4(), (tmp + 3).s4())
	uzp2((a + 2).s4(), (tmp + 1).s4(), tmp.s4())
	uzp2((a + 3).s4(), (tmp + 3).s4(), (tmp + 2).s4())
	for i := range V(4) {
		x, y := a+i/2, a+3-i/2
		if i%2 == 0 {
			uaddl((lo + i).h8(), x.b8(), y.b8())
			usubl((lo + 4 + i).h8(), x.b8(), y.b8())
		} else {
			uaddl((lo + i).h8(), x.b16(), y.b16())
			usubl((lo + 4 + i).h8(), x.b16(), y.b16())
		}
	}
	fdctPass(lo, hi, 11, func(o0, o4 V) {
		sub(o0.h8(), o0.h8(), center.h8())
		shl(o0.h8(), o0.h8(), 2)
		shl(o4.h8(), o4.h8(), 2)
	})
	for i := V(0); i < 8; i += 2 {
		trn1((tmp + i).h8(), (hi + i).h8(), (hi + i + 1).h8())
		trn2((tmp + i + 1).h8(), (hi + i).h8(), (hi + i + 1).h8())
	}
	for _, i := range []V{0, 1, 4, 5} {
		trn1((lo + i).s4(), (tmp + i).s4(), (tmp + i + 2).s4())
		trn2((lo + i + 2).s4(), (tmp + i).s4(), (tmp + i + 2).s4())
	}
	for i := range V(4) {
		trn1((tmp + i).d2(), (lo + i).d2(), (lo + i + 4).d2())
		trn2((tmp + i + 4).d2(), (lo + i).d2(), (lo + i + 4).d2())
	}
	for i := range V(4) {
		add((hi + i).h8(), (tmp + i).h8(), (tmp + 7 - i).h8())
		sub((hi + 4 + i).h8(), (tmp + i).h8(), (tmp + 7 - i).h8())
	}
	fdctPass(hi, lo, 15, func(o0, o4 V) {
		srshr(o0.h8(), o0.h8(), 2)
		srshr(o4.h8(), o4.h8(), 2)
	})

	// Quantize the rows.
	p("MOVD R4, R8")
	p("ADD $128, R4, R9")
	p("ADD $256, R4, R10")
	const added, recip, scale = V(2), V(6), V(24)
	const v, w = V(10), V(11)
	for i := range V(8) {
		if i%4 == 0 {
			ld1(4, added.h8(), 8, 64)
			ld1(4, recip.h8(), 9, 64)
			ld1(4, scale.h8(), 10, 64)
		}
		c := lo + i
		abs(v.h8(), c.h8())
		add(v.h8(), v.h8(), (added + i%4).h8())
		sqdmulh(w.h8(), v.h8(), (recip + i%4).h8())
		ssra(v.h8(), w.h8(), 1)
		sqdmulh(v.h8(), v.h8(), (scale + i%4).h8())
		sshr(w.h8(), c.h8(), 15)
		sshr(v.h8(), v.h8(), 1)
		eor(v.b16(), v.b16(), w.b16())
		sub(c.h8(), v.h8(), w.h8())
	}
	ld1(4, tmp.b16(), zigzag, 0)
	for i := range V(4) {
		sqxtn((hi + i).b8(), (lo + 2*i).h8())
		sqxtn((hi + i).b16(), (lo + 2*i + 1).h8())
	}
	st1(4, lo.h8(), blocks, 64)
	st1(4, (lo + 4).h8(), blocks, 64)
	const z = hi + 4
	for i := range V(4) {
		tbl(z+i, hi, 4, tmp+i)
		cmtst((z + i).b16(), (z + i).b16(), (z + i).b16())
		and((z + i).b16(), (z + i).b16(), bits.b16())
	}
	addp(z.b16(), z.b16(), (z + 1).b16())
	addp((z + 2).b16(), (z + 2).b16(), (z + 3).b16())
	addp(z.b16(), z.b16(), (z + 2).b16())
	addp(z.b16(), z.b16(), z.b16())
	strPost(3, z, masks, 8)
	p("ADD $8, R2")
	p("SUBS $1, R5")
	p("BNE block")
	p("RET")
}

// fdctPass transforms eight registers to out. in holds the sums of inputs 0 and
// 7, 1 and 6, 2 and 5, 3 and 4, and then their differences; it overwrites the
// sums. ends receives the unscaled outputs 0 and 4.
func fdctPass(in, out V, shift int, ends func(o0, o4 V)) {
	const t0, t1 = V(2), V(3)
	t3, t2 := in, in+1
	add(t0.h8(), in.h8(), (in + 3).h8())
	sub(t3.h8(), in.h8(), (in + 3).h8())
	add(t1.h8(), (in + 1).h8(), (in + 2).h8())
	sub(t2.h8(), (in + 1).h8(), (in + 2).h8())
	add(out.h8(), t0.h8(), t1.h8())
	sub((out + 4).h8(), t0.h8(), t1.h8())
	ends(out, out+4)
	const z3, z4, y3, y4 = V(4), V(5), V(6), V(7)
	d := in + 4
	add(z3.h8(), (d + 3).h8(), (d + 1).h8())
	add(z4.h8(), (d + 2).h8(), d.h8())
	for half := range 2 {
		const o2, o6, o1, o7 = V(8), V(9), V(10), V(11)
		products(half, y3, false, z3, f1175-f1961, z4, f1175)
		products(half, y4, false, z3, f1175, z4, f1175-f0390)
		products(half, o2, false, t3, f0541+f0765, t2, f0541)
		products(half, o6, false, t3, f0541, t2, f0541-f1847)
		mov(o7, y3)
		mov(o1, y4)
		products(half, o7, true, d+3, f0298-f0899, d, -f0899)
		products(half, o1, true, d, f1501-f0899, d+3, -f0899)
		products(half, y3, true, d+1, f3072-f2562, d+2, -f2562)
		products(half, y4, true, d+2, f2053-f2562, d+1, -f2562)
		for _, o := range []struct{ i, v V }{{2, o2}, {6, o6}, {7, o7}, {1, o1}, {3, y3}, {5, y4}} {
			rshrn(dctHalf(out+o.i, half), o.v.s4(), shift)
		}
	}
}
