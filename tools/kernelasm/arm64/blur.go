package main

// blur writes the functions of internal/kernel/blur_simd.go.
func blur() {
	bytesToWords()
	bytesToFloats()
	cvBlurRow()
	cvBlurMix()
	torchBlur("torchBlurFusedSIMD", fmla)
	torchBlur("torchBlurSIMD", func(d, n, m vec) {
		fmul(n, n, m)
		fadd(d, d, n)
	})
}

func bytesToWords() {
	text("widenSIMD", 24, "func widenSIMD(dst *uint16, src *byte, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	label("loop")
	ld1(2, V(4).b16(), 1, 32)
	for i := range V(2) {
		ushll((2 * i).h8(), (4 + i).b8(), 0)
		ushll((2*i + 1).h8(), (4 + i).b16(), 0)
	}
	st1(4, V(0).h8(), 0, 64)
	p("SUBS $32, R2")
	p("BNE loop")
	p("RET")
}

func bytesToFloats() {
	text("floatsSIMD", 24, "func floatsSIMD(dst *float32, src *byte, n int)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	label("loop")
	ld1(2, V(8).b16(), 1, 32)
	for i := range V(2) {
		ushll(V(10).h8(), (8 + i).b8(), 0)
		ushll(V(11).h8(), (8 + i).b16(), 0)
		for k := range V(2) {
			ushll((2 * k).s4(), (10 + k).h4(), 0)
			ushll((2*k + 1).s4(), (10 + k).h8(), 0)
		}
		for k := range V(4) {
			ucvtf(k.s4(), k.s4())
		}
		st1(4, V(0).s4(), 0, 64)
	}
	p("SUBS $32, R2")
	p("BNE loop")
	p("RET")
}

// cvBlurRow adds the outer pixels before it multiplies. No sum exceeds 16 bits.
func cvBlurRow() {
	text("cvBlurRowSIMD", 48, "func cvBlurRowSIMD(dst, src *byte, taps *uint16, half, n, step int)")
	const dst, left, right, taps, weight = R(0), R(8), R(9), R(10), V(16)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD taps+16(FP), R2")
	p("MOVD half+24(FP), R3")
	p("MOVD n+32(FP), R4")
	p("MOVD step+40(FP), R5")
	p("MUL R3, R5, R6") // from the first tap to the centre
	label("loop")
	p("ADD R3<<1, R2, R10")
	p("ADD R6, R1, R8")
	p("ADD R6, R8, R12") // the last tap
	ld1r(weight.h8(), taps)
	ld1(4, V(0).h8(), left, 0)
	for i := range V(4) {
		mul(i.h8(), i.h8(), weight.h8())
	}
	p("MOVD R1, R11")
	p("MOVD R2, R10")
	p("MOVD R3, R7")
	p("CBZ R7, store")
	label("tap")
	p("MOVD R11, R8")
	p("MOVD R12, R9")
	ld1r(weight.h8(), taps)
	ld1(4, V(4).h8(), left, 0)
	ld1(4, V(20).h8(), right, 0)
	for i := range V(4) {
		add((4 + i).h8(), (4 + i).h8(), (20 + i).h8())
		mla(i.h8(), (4 + i).h8(), weight.h8())
	}
	p("ADD $2, R10")
	p("ADD R5, R11")
	p("SUB R5, R12")
	p("SUBS $1, R7")
	p("BNE tap")
	label("store")
	st1(4, V(0).h8(), dst, 64)
	p("ADD $64, R1")
	p("SUBS $32, R4")
	p("BNE loop")
	p("RET")
}

func cvBlurMix() {
	text("cvBlurMixSIMD", 48, "func cvBlurMixSIMD(dst, rows *byte, at *int64, taps *uint16, half, n int)")
	const dst, row, taps, weight, in = R(0), R(8), R(10), V(16), V(20)
	p("MOVD dst+0(FP), R0")
	p("MOVD rows+8(FP), R1")
	p("MOVD at+16(FP), R2")
	p("MOVD taps+24(FP), R3")
	p("MOVD half+32(FP), R4")
	p("MOVD n+40(FP), R5")
	label("loop")
	for i := range V(8) {
		movi(i.b16(), 0)
	}
	p("MOVD R2, R9")
	p("MOVD R3, R10")
	p("ADD R4<<2, R3, R11") // the last tap
	label("tap")
	p("MOVD.P 8(R9), R8")
	p("ADD R1, R8")
	ld1r(weight.h8(), taps)
	ld1(4, in.h8(), row, 0)
	for i := range V(4) {
		umlal((2 * i).s4(), (in + i).h4(), weight.h4())
		umlal((2*i + 1).s4(), (in + i).h8(), weight.h8())
	}
	p("ADD $2, R10")
	p("CMP R11, R10")
	p("BLS tap")
	for i := range V(4) {
		rshrn((in + i).h4(), (2 * i).s4(), 16)
		rshrn((in + i).h8(), (2*i + 1).s4(), 16)
	}
	for i := range V(2) {
		uzp1((in + i).b16(), (in + 2*i).b16(), (in + 2*i + 1).b16())
	}
	st1(2, in.b16(), dst, 32)
	p("ADD $64, R1")
	p("SUBS $32, R5")
	p("BNE loop")
	p("RET")
}

// torchBlur writes TorchBlurRow. The sums of 64 values are in registers.
func torchBlur(name string, multiply func(sum, src, k vec)) {
	text(name, 64, "func "+name+"(sums, rows *float32, at *int64, height int, taps *float32, width, n, step int)")
	const dst, src, taps, weight, in = R(0), R(12), R(10), V(20), V(16)
	p("MOVD sums+0(FP), R0")
	p("MOVD rows+8(FP), R1")
	p("MOVD at+16(FP), R2")
	p("MOVD height+24(FP), R3")
	p("MOVD taps+32(FP), R4")
	p("MOVD width+40(FP), R5")
	p("MOVD n+48(FP), R6")
	p("MOVD step+56(FP), R7")
	label("loop")
	p("MOVD R4, R10")
	p("MOVD R2, R9")
	p("MOVD R3, R11")
	p("MOVD.P 8(R9), R8")
	p("ADD R8<<2, R1, R8")
	p("MOVD R5, R13")
	p("MOVD R8, R12")
	ld1r(weight.s4(), taps)
	for i := range V(4) {
		ld1(4, in.s4(), src, 64)
		for k := range V(4) {
			fmul((4*i + k).s4(), (in + k).s4(), weight.s4())
		}
	}
	p("B next")
	label("row")
	p("MOVD.P 8(R9), R8")
	p("ADD R8<<2, R1, R8")
	p("MOVD R5, R13")
	label("tap")
	p("MOVD R8, R12")
	ld1r(weight.s4(), taps)
	for i := range V(4) {
		ld1(4, in.s4(), src, 64)
		for k := range V(4) {
			multiply((4*i + k).s4(), (in + k).s4(), weight.s4())
		}
	}
	label("next")
	p("ADD $4, R10")
	p("ADD R7, R8")
	p("SUBS $1, R13")
	p("BNE tap")
	p("SUBS $1, R11")
	p("BNE row")
	for i := range V(4) {
		st1(4, (4 * i).s4(), dst, 64)
	}
	p("ADD $256, R1")
	p("SUBS $64, R6")
	p("BNE loop")
	p("RET")
}
