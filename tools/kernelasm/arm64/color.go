package main

// color writes the functions of internal/kernel/color_arm64.go. All of them
// compute 16 values at a time; n is a multiple of 16.
func color() {
	sumBytes()
	grayFixed()
	grayFloat("grayFloatNEON", func(d, n, m vec) {
		fmul(n, n, m)
		fadd(d, d, n)
	})
	grayFloat("grayFusedNEON", fmla)
	const factor, rest = V(0), V(1)
	f, q := factor.s4(), rest.s4()
	mixed := func(d, v, o vec) { // round(v*f), then a chain with o*q
		fmul(d, v, f)
		fmla(d, o, q)
	}
	mix("mixPillowNEON", fcvtzs, func(d, v, o vec) {
		fsub(d, v, o)
		fmul(d, d, f)
		fadd(d, d, o)
	})
	mix("mixTorchNEON", fcvtzs, mixed)
	mix("mixDifferenceNEON", fcvtzs, func(d, v, o vec) {
		fsub(o, o, v)
		fmla(v, o, q)
		mov(d.n, v.n)
	})
	mix("mixOpenCVNEON", fcvtns, mixed)
	mix("mixMindSporeNEON", fcvtns, func(d, v, o vec) {
		fmul(d, o, q)
		fmla(d, v, f)
	})
	mix("mixMXNetNEON", fcvtns, func(d, v, o vec) {
		fmul(d, v, f)
		fmul(o, o, q)
		fadd(d, d, o)
	})
	chromaRow()
	smoothRow()
}

func sumBytes() {
	text("sumUint8NEON", 24, "func sumUint8NEON(v *byte, n int) uint64")
	p("MOVD v+0(FP), R0")
	p("MOVD n+8(FP), R1")
	movi(V(0).b16(), 0)
	label("loop")
	ld1(1, V(1).b16(), 0, 16)
	uaddlp(V(1).h8(), V(1).b16())
	uaddlp(V(1).s4(), V(1).h8())
	uadalp(V(0).d2(), V(1).s4())
	p("SUBS $16, R1")
	p("BNE loop")
	p("VMOV V0.D[0], R2")
	p("VMOV V0.D[1], R3")
	p("ADD R3, R2")
	p("MOVD R2, ret+16(FP)")
	p("RET")
}

// bytesOf widens the bytes of v to 16 bits: the lower ones to d, the upper ones
// to d+1.
func bytesOf(d, v V) {
	ushll(d.h8(), v.b8(), 0)
	ushll((d + 1).h8(), v.b16(), 0)
}

// quarter returns the lower or the upper half of the words that bytesOf wrote.
func quarter(d V, i V) vec {
	if i%2 == 0 {
		return (d + i/2).h4()
	}
	return (d + i/2).h8()
}

// planesOf loads 16 bytes of each of three channels and widens them to the
// registers from 2 on.
func planesOf() {
	for c := range V(3) {
		ld1(1, (16 + c).b16(), R(1+c), 16)
		bytesOf(2+2*c, 16+c)
	}
}

// storeWords narrows the words of v and v+1 to bytes and stores them.
func storeWords(v V, by func(d, n vec)) {
	by(V(20).b8(), v.h8())
	by(V(20).b16(), (v + 1).h8())
	st1(1, V(20).b16(), 0, 16)
}

func grayArgs() {
	p("MOVD dst+0(FP), R0")
	p("MOVD red+8(FP), R1")
	p("MOVD green+16(FP), R2")
	p("MOVD blue+24(FP), R3")
	p("MOVD n+32(FP), R4")
	p("MOVD k+40(FP), R5")
	ld1(1, V(0).s4(), 5, 0)
}

func grayFixed() {
	text("grayNEON", 48, "func grayNEON(dst, red, green, blue *byte, n int, k *[4]int32)")
	grayArgs()
	dup(V(1).s4(), V(0).s(3)) // the shift, negative
	label("loop")
	planesOf()
	for i := range V(4) {
		t := (24 + i).s4()
		umullBy(t, quarter(2, i), V(0).h(0))
		umlalBy(t, quarter(4, i), V(0).h(2))
		umlalBy(t, quarter(6, i), V(0).h(4))
		urshl(t, t, V(1).s4())
		xtn(quarter(21, i), t)
	}
	storeWords(21, xtn)
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}

func grayFloat(name string, addProduct func(d, n, m vec)) {
	text(name, 48, "func "+name+"(dst, red, green, blue *byte, n int, k *[4]float32)")
	grayArgs()
	for c := range V(3) {
		dup((8 + c).s4(), V(0).s(int(c)))
	}
	label("loop")
	planesOf()
	for i := range V(4) {
		t := (24 + i).s4()
		for c := range V(3) {
			ushll((28 + c).s4(), quarter(2+2*c, i), 0)
			ucvtf((28 + c).s4(), (28 + c).s4())
		}
		fmul(t, V(28).s4(), V(8).s4())
		addProduct(t, V(29).s4(), V(9).s4())
		addProduct(t, V(30).s4(), V(10).s4())
		fcvtzs(t, t)
		xtn(quarter(21, i), t)
	}
	storeWords(21, xtn)
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}

// mix writes a rule of kernel.Mix. compute may change its operands.
func mix(name string, round func(d, n vec), compute func(d, v, o vec)) {
	text(name, 40, "func "+name+"(dst, v, other *byte, n int, factor, rest float32)")
	p("MOVD dst+0(FP), R0")
	p("MOVD v+8(FP), R1")
	p("MOVD other+16(FP), R2")
	p("MOVD n+24(FP), R4")
	p("FMOVS factor+32(FP), F0")
	p("FMOVS rest+36(FP), F1")
	dup(V(0).s4(), V(0).s(0))
	dup(V(1).s4(), V(1).s(0))
	label("loop")
	for c := range V(2) {
		ld1(1, (16 + c).b16(), R(1+c), 16)
		bytesOf(2+2*c, 16+c)
	}
	for i := range V(4) {
		t := (24 + i).s4()
		for c := range V(2) {
			ushll((28 + c).s4(), quarter(2+2*c, i), 0)
			ucvtf((28 + c).s4(), (28 + c).s4())
		}
		compute(t, V(28).s4(), V(29).s4())
		round(t, t)
		sqxtn(quarter(21, i), t)
	}
	storeWords(21, sqxtun)
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}

func chromaRow() {
	text("chromaNEON", 36, "func chromaNEON(dst, c, y *byte, n int, weight int32)")
	p("MOVD dst+0(FP), R0")
	p("MOVD c+8(FP), R1")
	p("MOVD y+16(FP), R2")
	p("MOVD n+24(FP), R4")
	p("MOVW weight+32(FP), R5")
	dupR(V(0).h8(), 5)
	p("MOVD $%d, R5", 128<<14)
	dupR(V(1).s4(), 5)
	label("loop")
	ld1(1, V(16).b16(), 1, 16)
	ld1(1, V(17).b16(), 2, 16)
	usubl(V(2).h8(), V(16).b8(), V(17).b8())
	usubl(V(3).h8(), V(16).b16(), V(17).b16())
	for i := range V(4) {
		t := (24 + i).s4()
		mov(t.n, 1)
		smlalBy(t, quarter(2, i), V(0).h(0))
		sqrshrn(quarter(21, i), t, 14)
	}
	storeWords(21, sqxtun)
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}

// smoothRow divides 2*sum+13, at most 6643, by 26: the product with 40330 less
// the last 20 bits.
func smoothRow() {
	text("smooth13NEON", 48, "func smooth13NEON(dst, a, b, c *byte, n, px int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD a+8(FP), R1")
	p("MOVD b+16(FP), R2")
	p("MOVD c+24(FP), R3")
	p("MOVD n+32(FP), R4")
	p("MOVD px+40(FP), R5")
	p("MOVD $40330, R6")
	dupR(V(0).h8(), 6)
	p("MOVD $13, R6")
	dupR(V(1).h8(), 6)
	label("loop")
	for row := range R(3) {
		p("ADD R5, R%d, R7", 1+row)
		p("ADD R5, R7, R8")
		ld1(1, V(16).b16(), 1+row, 16)
		ld1(1, V(17).b16(), 7, 0)
		ld1(1, V(18).b16(), 8, 0)
		if row == 0 {
			uaddl(V(2).h8(), V(16).b8(), V(17).b8())
			uaddl(V(3).h8(), V(16).b16(), V(17).b16())
		} else {
			uaddw(V(2).h8(), V(2).h8(), V(16).b8())
			uaddw(V(3).h8(), V(3).h8(), V(16).b16())
			uaddw(V(2).h8(), V(2).h8(), V(17).b8())
			uaddw(V(3).h8(), V(3).h8(), V(17).b16())
		}
		uaddw(V(2).h8(), V(2).h8(), V(18).b8())
		uaddw(V(3).h8(), V(3).h8(), V(18).b16())
		if row == 1 { // the centre, four more times
			ushll(V(4).h8(), V(17).b8(), 2)
			ushll(V(5).h8(), V(17).b16(), 2)
			add(V(2).h8(), V(2).h8(), V(4).h8())
			add(V(3).h8(), V(3).h8(), V(5).h8())
		}
	}
	for i := range V(2) {
		shl((2 + i).h8(), (2 + i).h8(), 1)
		add((2 + i).h8(), (2 + i).h8(), V(1).h8())
	}
	for i := range V(4) {
		t := (24 + i).s4()
		umullBy(t, quarter(2, i), V(0).h(0))
		shrn(quarter(21, i), t, 16)
	}
	ushr(V(21).h8(), V(21).h8(), 4)
	ushr(V(22).h8(), V(22).h8(), 4)
	storeWords(21, xtn)
	p("SUBS $16, R4")
	p("BNE loop")
	p("RET")
}
