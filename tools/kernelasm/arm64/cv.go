package main

import "fmt"

// cv writes the functions of internal/kernel/cv_arm64.go.
func cv() {
	cvRow1()
	cvRow(3)
	cvRow(4)
	cvMix()
	bytesToFloat()
	cvArea1()
	cvArea(3)
	cvArea(4)
	scale(false)
	scale(true)
	round()
	for _, ch := range []int{1, 3, 4} {
		cvHalf(ch)
	}
	for _, size := range []int{1, 3, 4} {
		pick(size)
	}
	sumRows()
	sumBlocks()
	cvCubic1()
	cvCubic(3)
	cvCubic(4)
	cvMixCubic()
}

func rowArgs(name string) {
	text(name, 40, "func "+name+"(dst *int16, src *byte, n int, first, pair *int32)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD first+24(FP), R3")
	p("MOVD pair+32(FP), R4")
}

// cvRow1 mixes two neighbours for eight outputs at a time.
func cvRow1() {
	rowArgs("cvRow1SIMD")
	const dst, pair, at = R(0), R(4), R(9)
	const a, b, t, u, lo, hi = V(0), V(1), V(2), V(3), V(4), V(5)
	label("loop")
	for i := range 8 {
		p("MOVW.P 4(R3), R8")
		p("ADD R8, R1, R9")
		ld1Lane(b.h(i), at, 0)
	}
	ld2(t.h8(), pair, 32)
	xtn(a.b8(), b.h8())
	ushr(b.h8(), b.h8(), 8)
	ushll(a.h8(), a.b8(), 0)
	smull(lo.s4(), a.h4(), t.h4())
	smull(hi.s4(), a.h8(), t.h8())
	smlal(lo.s4(), b.h4(), u.h4())
	smlal(hi.s4(), b.h8(), u.h8())
	shrn(lo.h4(), lo.s4(), 4)
	shrn(lo.h8(), hi.s4(), 4)
	strPost(4, lo, dst, 16)
	p("SUBS $8, R2")
	p("BNE loop")
	p("RET")
}

// cvRow mixes two neighbours of ch bytes for four outputs at a time.
func cvRow(ch int) {
	rowArgs(fmt.Sprintf("cvRow%dSIMD", ch))
	const dst, pair, at = R(0), R(4), R(9)
	const weights, a, b, sum = V(0), V(1), V(16), V(5)
	label("loop")
	ldrPost(4, weights, pair, 16)
	for i := range V(4) {
		p("MOVW.P 4(R3), R8")
		if ch == 3 {
			p("ADD R8<<1, R8")
			p("ADD R8, R1, R9")
		} else {
			p("ADD R8<<2, R1, R9")
		}
		ldr(3, a+i, at, 0)
	}
	for i := range V(4) {
		ushll((a + i).h8(), (a + i).b8(), 0)
		smullBy((sum + i).s4(), (a + i).h4(), weights.h(int(2*i)))
		if ch == 3 {
			ext(b+i, a+i, a+i, 6)
			smlalBy((sum + i).s4(), (b + i).h4(), weights.h(int(2*i+1)))
		} else {
			smlalBy((sum + i).s4(), (a + i).h8(), weights.h(int(2*i+1)))
		}
	}
	for i := range V(4) {
		switch {
		case ch == 3:
			shrn((sum + i).h4(), (sum + i).s4(), 4)
			strPost(3, sum+i, dst, 6)
		case i%2 == 0:
			shrn((sum + i).h4(), (sum + i).s4(), 4)
			shrn((sum + i).h8(), (sum + i + 1).s4(), 4)
			strPost(4, sum+i, dst, 16)
		}
	}
	p("SUBS $4, R2")
	p("BNE loop")
	p("RET")
}

// cvMix mixes two rows of sums, 16 at a time. sqdmulh returns twice the
// product; halving the result drops the extra bit.
func cvMix() {
	text("cvMixLinearNEON", 40, "func cvMixLinearNEON(dst *byte, a, b *int16, n, weights int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD a+8(FP), R1")
	p("MOVD b+16(FP), R2")
	p("MOVD n+24(FP), R3")
	p("MOVD weights+32(FP), R4")
	const dst, ra, rb = R(0), R(1), R(2)
	const weights, a, b = V(0), V(2), V(4)
	dupR(weights.d2(), 4)
	label("loop")
	ld1(2, a.h8(), ra, 32)
	ld1(2, b.h8(), rb, 32)
	for i := range V(2) {
		sqdmulhBy((a + i).h8(), (a + i).h8(), weights.h(0))
		sqdmulhBy((b + i).h8(), (b + i).h8(), weights.h(1))
	}
	for i := range V(2) {
		sshr((a + i).h8(), (a + i).h8(), 1)
		ssra((a + i).h8(), (b + i).h8(), 1)
	}
	sqrshrun(a.b8(), a.h8(), 2)
	sqrshrun(a.b16(), (a + 1).h8(), 2)
	strPost(4, a, dst, 16)
	p("SUBS $16, R3")
	p("BNE loop")
	p("RET")
}

// bytesToFloat converts 16 bytes at a time.
func bytesToFloat() {
	text("bytesToFloatSIMD", 24, "func bytesToFloatSIMD(dst *float32, src *byte, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	label("loop")
	ldrPost(4, 0, 1, 16)
	ushll(V(1).h8(), V(0).b8(), 0)
	ushll(V(2).h8(), V(0).b16(), 0)
	ushll(V(4).s4(), V(1).h4(), 0)
	ushll(V(5).s4(), V(1).h8(), 0)
	ushll(V(6).s4(), V(2).h4(), 0)
	ushll(V(7).s4(), V(2).h8(), 0)
	for i := V(4); i < 8; i++ {
		ucvtf(i.s4(), i.s4())
	}
	st1(4, V(4).s4(), 0, 64)
	p("SUBS $16, R2")
	p("BNE loop")
	p("RET")
}

// cvArea1 computes four sums at a time. The weights of consecutive terms of a
// sum are line apart.
func cvArea1() {
	text("cvArea1SIMD", 56, "func cvArea1SIMD(dst, row *float32, n int, first *int32, w *float32, k, line int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD row+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD first+24(FP), R3")
	p("MOVD w+32(FP), R4")
	p("MOVD k+40(FP), R5")
	p("MOVD line+48(FP), R6")
	const sum, v, w = V(0), V(1), V(2)
	label("loop")
	for i := range 4 {
		p("MOVW.P 4(R3), R8")
		p("ADD R8<<2, R1, R%d", 10+i)
	}
	movi(sum.b16(), 0)
	p("MOVD R4, R9")
	p("MOVD R5, R7")
	label("term")
	for i := range 4 {
		ld1Lane(v.s(i), R(10+i), 4)
	}
	ldr(4, w, 9, 0)
	p("ADD R6<<2, R9")
	fmul(v.s4(), v.s4(), w.s4())
	fadd(sum.s4(), sum.s4(), v.s4())
	p("SUBS $1, R7")
	p("BNE term")
	strPost(4, sum, 0, 16)
	p("ADD $16, R4")
	p("SUBS $4, R2")
	p("BNE loop")
	p("RET")
}

// cvArea computes the sums of the ch channels of one output at a time.
func cvArea(ch int) {
	name := fmt.Sprintf("cvArea%dSIMD", ch)
	text(name, 48, "func "+name+"(dst, row *float32, n int, first *int32, w *float32, k int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD row+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD first+24(FP), R3")
	p("MOVD w+32(FP), R4")
	p("MOVD k+40(FP), R5")
	const sum, v, w = V(0), V(1), V(2)
	label("loop")
	p("MOVW.P 4(R3), R8")
	if ch == 3 {
		p("ADD R8<<1, R8")
		p("ADD R8<<2, R1, R9")
	} else {
		p("ADD R8<<4, R1, R9")
	}
	movi(sum.b16(), 0)
	p("MOVD R5, R7")
	label("term")
	ldrPost(4, v, 9, 4*ch)
	ldrPost(2, w, 4, 4)
	fmulBy(v.s4(), v.s4(), w.s(0))
	fadd(sum.s4(), sum.s4(), v.s4())
	p("SUBS $1, R7")
	p("BNE term")
	strPost(4, sum, 0, 4*ch)
	p("SUBS $1, R2")
	p("BNE loop")
	p("RET")
}

// scale multiplies eight floats at a time. If adds is set, it adds the products
// to sum.
func scale(adds bool) {
	name := "scaleNEON"
	if adds {
		name = "addScaledNEON"
	}
	text(name, 28, "func "+name+"(sum, buf *float32, n int, w float32)")
	p("MOVD sum+0(FP), R0")
	p("MOVD buf+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("FMOVS w+24(FP), F0")
	label("loop")
	ld1(2, V(2).s4(), 1, 32)
	if adds {
		ld1(2, V(4).s4(), 0, 0)
	}
	for i := range V(2) {
		fmulBy((2 + i).s4(), (2 + i).s4(), V(0).s(0))
	}
	if adds {
		for i := range V(2) {
			fadd((2 + i).s4(), (4 + i).s4(), (2 + i).s4())
		}
	}
	st1(2, V(2).s4(), 0, 32)
	p("SUBS $8, R2")
	p("BNE loop")
	p("RET")
}

// round converts 16 numbers at a time.
func round() {
	text("roundU8SIMD", 24, "func roundU8SIMD(dst *byte, src *float32, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	label("loop")
	ld1(4, V(0).s4(), 1, 64)
	for i := range V(4) {
		fcvtns(i.s4(), i.s4())
	}
	sqxtun(V(0).h4(), V(0).s4())
	sqxtun(V(2).h4(), V(2).s4())
	sqxtun(V(0).h8(), V(1).s4())
	sqxtun(V(2).h8(), V(3).s4())
	uqxtn(V(0).b8(), V(0).h8())
	uqxtn(V(0).b16(), V(2).h8())
	strPost(4, 0, 0, 16)
	p("SUBS $16, R2")
	p("BNE loop")
	p("RET")
}

// cvHalf averages blocks of 2 x 2 pixels, eight at a time.
func cvHalf(ch int) {
	name := fmt.Sprintf("cvHalf%dSIMD", ch)
	text(name, 32, "func "+name+"(dst, a, b *byte, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD a+8(FP), R1")
	p("MOVD b+16(FP), R2")
	p("MOVD n+24(FP), R3")
	label("loop")
	const a, b = V(0), V(4)
	for i, v := range []V{a, b} {
		switch ch {
		case 1:
			ld1(1, v.b16(), R(1+i), 16)
		case 3:
			ld3(v.b16(), R(1+i), 48)
		case 4:
			ld4(v.b16(), R(1+i), 64)
		}
	}
	for c := range V(ch) {
		uaddlp((a + c).h8(), (a + c).b16())
	}
	for c := range V(ch) {
		uadalp((a + c).h8(), (b + c).b16())
	}
	for c := range V(ch) {
		rshrn((a + c).b8(), (a + c).h8(), 2)
	}
	switch ch {
	case 1:
		st1(1, a.b8(), 0, 8)
	case 3:
		st3(a.b8(), 0, 24)
	case 4:
		st4(a.b8(), 0, 32)
	}
	p("SUBS $8, R3")
	p("BNE loop")
	p("RET")
}

// pick copies four pixels of size bytes at a time.
func pick(size int) {
	name := fmt.Sprintf("pick%dSIMD", size)
	text(name, 32, "func "+name+"(dst, src *byte, n int, xs *int32)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD xs+24(FP), R3")
	label("loop")
	for i := range 4 {
		p("MOVWU %d(R3), R%d", 4*i, 8+i)
	}
	p("ADD $16, R3")
	for i := range 4 {
		switch size {
		case 1:
			p("MOVBU (R1)(R%d), R%d", 8+i, 8+i)
		case 3:
			p("ADD R%d<<1, R%d", 8+i, 8+i)
			p("MOVWU (R1)(R%d), R%d", 8+i, 8+i)
		case 4:
			p("MOVWU (R1)(R%d<<2), R%d", 8+i, 8+i)
		}
	}
	switch size {
	case 1:
		p("ORR R9<<8, R8")
		p("ORR R11<<8, R10")
		p("ORR R10<<16, R8")
		p("MOVW.P R8, 4(R0)")
	case 3:
		for i := range 4 {
			p("MOVW.P R%d, 3(R0)", 8+i)
		}
	case 4:
		p("STPW (R10, R11), 8(R0)")
		p("STPW.P (R8, R9), 16(R0)")
	}
	p("SUBS $4, R2")
	p("BNE loop")
	p("RET")
}

// sumRows adds 16 columns at a time.
func sumRows() {
	text("sumRowsSIMD", 40, "func sumRowsSIMD(dst *uint16, src *byte, n, rows, stride int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD rows+24(FP), R3")
	p("MOVD stride+32(FP), R4")
	label("loop")
	movi(V(0).b16(), 0)
	movi(V(1).b16(), 0)
	p("MOVD R1, R5")
	p("MOVD R3, R6")
	label("row")
	ld1(1, V(2).b16(), 5, 0)
	p("ADD R4, R5")
	uaddw(V(0).h8(), V(0).h8(), V(2).b8())
	uaddw(V(1).h8(), V(1).h8(), V(2).b16())
	p("SUBS $1, R6")
	p("BNE row")
	st1(2, V(0).h8(), 0, 32)
	p("ADD $16, R1")
	p("SUBS $16, R2")
	p("BNE loop")
	p("RET")
}

// sumBlocks sums up to four channels of k pixels at a time.
func sumBlocks() {
	text("sumBlocksSIMD", 44, "func sumBlocksSIMD(dst *float32, src *uint16, n, k, ch int, scale float32)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD k+24(FP), R3")
	p("MOVD ch+32(FP), R4")
	p("FMOVS scale+40(FP), F0")
	const scale, sum, v = V(0), V(1), V(2)
	label("loop")
	movi(sum.b16(), 0)
	p("MOVD R3, R5")
	label("term")
	ldr(3, v, 1, 0)
	p("ADD R4<<1, R1")
	uaddw(sum.s4(), sum.s4(), v.h4())
	p("SUBS $1, R5")
	p("BNE term")
	ucvtf(sum.s4(), sum.s4())
	fmulBy(sum.s4(), sum.s4(), scale.s(0))
	str(4, sum, 0, 0)
	p("ADD R4<<2, R0")
	p("SUBS $1, R2")
	p("BNE loop")
	p("RET")
}

func cubicArgs(name string) {
	text(name, 40, "func "+name+"(dst *int32, src *byte, n int, first, pairs *int32)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD first+24(FP), R3")
	p("MOVD pairs+32(FP), R4")
}

// cvCubic1 computes four sums of four products at a time.
func cvCubic1() {
	cubicArgs("cvCubic1SIMD")
	const weights, v, sum = V(0), V(4), V(16)
	label("loop")
	for i := range V(4) {
		p("MOVW.P 4(R3), R8")
		p("ADD R8, R1, R9")
		ldr(2, v+i, 9, 0)
		ldrPost(3, weights+i, 4, 8)
	}
	for i := range V(4) {
		ushll((v + i).h8(), (v + i).b8(), 0)
		smull((sum + i).s4(), (v + i).h4(), (weights + i).h4())
	}
	addp(sum.s4(), sum.s4(), (sum + 1).s4())
	addp((sum + 2).s4(), (sum + 2).s4(), (sum + 3).s4())
	addp(sum.s4(), sum.s4(), (sum + 2).s4())
	strPost(4, sum, 0, 16)
	p("SUBS $4, R2")
	p("BNE loop")
	p("RET")
}

// cvCubic computes the sums of ch channels for two outputs at a time.
func cvCubic(ch int) {
	cubicArgs(fmt.Sprintf("cvCubic%dSIMD", ch))
	const weights, pixels, sum = V(0), V(16), V(4)
	label("loop")
	ldrPost(4, weights, 4, 16)
	for i := range V(2) {
		p("MOVW.P 4(R3), R8")
		if ch == 3 {
			p("ADD R8<<1, R8")
			p("ADD R8, R1, R9")
		} else {
			p("ADD R8<<2, R1, R9")
		}
		ldr(4, pixels+8*i, 9, 0)
	}
	for i := range V(2) {
		a, lo, hi := pixels+8*i, pixels+8*i+1, pixels+8*i+2
		ushll(lo.h8(), a.b8(), 0)
		ushll(hi.h8(), a.b16(), 0)
		taps := [4]vec{lo.h4(), lo.h8(), hi.h4(), hi.h8()}
		if ch == 3 {
			ext(a+3, lo, hi, 6)
			ext(a+4, lo, hi, 12)
			ext(a+5, hi, hi, 2)
			taps = [4]vec{lo.h4(), (a + 3).h4(), (a + 4).h4(), (a + 5).h4()}
		}
		for j, tap := range taps {
			w := weights.h(int(4*i) + j)
			if j == 0 {
				smullBy((sum + i).s4(), tap, w)
			} else {
				smlalBy((sum + i).s4(), tap, w)
			}
		}
	}
	for i := range V(2) {
		strPost(4, sum+i, 0, 4*ch)
	}
	p("SUBS $2, R2")
	p("BNE loop")
	p("RET")
}

// cvMixCubic mixes four rows of sums, eight at a time, the last row first.
func cvMixCubic() {
	text("cvMixCubicSIMD", 56, "func cvMixCubicSIMD(dst *byte, a, b, c, d *int32, n int, w *[4]float32)")
	p("MOVD dst+0(FP), R0")
	for i, row := range "abcd" {
		p("MOVD %c+%d(FP), R%d", row, 8+8*i, 1+i)
	}
	p("MOVD n+40(FP), R5")
	p("MOVD w+48(FP), R6")
	const weights, sum = V(0), V(8)
	ldr(4, weights, 6, 0)
	label("loop")
	for i := range V(4) {
		ld1(2, (16 + 2*i).s4(), R(1+i), 32)
	}
	for i := V(16); i < 24; i++ {
		scvtf(i.s4(), i.s4())
		fmulBy(i.s4(), i.s4(), weights.s(int(i-16)/2))
	}
	for half := range V(2) {
		s := 22 + half
		for _, row := range []V{20, 18, 16} {
			fadd(s.s4(), (row + half).s4(), s.s4())
		}
		fcvtns(s.s4(), s.s4())
	}
	sqxtun(sum.h4(), V(22).s4())
	sqxtun(sum.h8(), V(23).s4())
	uqxtn(sum.b8(), sum.h8())
	strPost(3, sum, 0, 8)
	p("SUBS $8, R5")
	p("BNE loop")
	p("RET")
}
