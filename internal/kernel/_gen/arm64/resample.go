package main

// resample makes the passes of ../../resample.go: 32-bit products of bytes and
// weights, four sums a register. Weights come in blocks of four.
func resample() {
	// Byte 4*part+i of 16, as lane i of a register, for the four parts; the same
	// for pixels of 3 bytes; and the first 3 bytes of 4 pixels, together.
	var fours, threes, thin []byte
	for part := range byte(4) {
		for lane := range byte(4) {
			fours = append(fours, 4*part+lane, 255, 255, 255)
			if lane < 3 {
				threes = append(threes, 3*part+lane, 255, 255, 255)
				thin = append(thin, 4*part+lane)
			} else {
				threes = append(threes, 255, 255, 255, 255)
			}
		}
	}
	var turn []byte // a 4 x 4 block of bytes
	for i := range byte(16) {
		turn = append(turn, i%4*4+i/4)
	}
	data("fours", fours)
	data("threes", append(append(threes, thin...), 255, 255, 255, 255))
	data("turn", turn)

	resamplePixels("resampleRGBNEON", 3)
	resamplePixels("resampleRGBANEON", 4)
	resampleGray()
	resampleColumns()
}

// clip is sums as bytes: sums of four registers from a on to one, a. Two steps
// of 22 bits altogether, of which both clamp.
func clip(a V) {
	sqshrun(a.h4(), a.s4(), 16)
	sqshrun((a + 2).h4(), (a + 2).s4(), 16)
	sqshrun(a.h8(), (a + 1).s4(), 16)
	sqshrun((a + 2).h8(), (a + 3).s4(), 16)
	uqshrn(a.b8(), a.h8(), 6)
	uqshrn(a.b16(), (a + 2).h8(), 6)
}

// half is what sums begin with: a half of 1<<22.
func half(v V) {
	movi(v.b16(), 0x20)
	ushr(v.s4(), v.s4(), 29)
	shl(v.s4(), v.s4(), 21)
}

const sums, parts, begin = V(16), V(28), V(26)

// back prepares the last four outputs where their number is no multiple of
// four: some are made twice. R6 is how many are left, R7 the blocks of an output.
func back(dst []string, bytes int) {
	p("CMP $4, R6")
	p("BGE four")
	p("MOVD $4, R8")
	p("SUB R6, R8")
	p("SUB R8<<2, R4")
	p("MUL R7, R8, R9")
	p("SUB R9<<4, R5")
	if bytes == 3 {
		p("ADD R8<<1, R8")
	} else if bytes == 4 {
		p("LSL $2, R8")
	}
	for _, d := range dst {
		p("SUB R8, %s", d)
	}
	p("MOVD $4, R6")
	label("four")
}

func resamplePixels(name string, ch int) {
	text(name, 64, "func "+name+"(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks int)")
	const dst0, w = R(0), R(5)
	rows := [2]R{9, 10}
	p("MOVD dst0+0(FP), R0")
	p("MOVD dst1+8(FP), R1")
	p("MOVD src0+16(FP), R2")
	p("MOVD src1+24(FP), R3")
	p("MOVD start+32(FP), R4")
	p("MOVD w+40(FP), R5")
	p("MOVD n+48(FP), R6")
	p("MOVD blocks+56(FP), R7")
	const thin = V(27)
	if ch == 3 {
		p("MOVD $threes<>(SB), R8")
		ldr(4, thin, 8, 64)
	} else {
		p("MOVD $fours<>(SB), R8")
	}
	ld1(4, parts.b16(), 8, 0)
	half(begin)
	label("loop")
	back([]string{"R0", "R1"}, ch)
	for px := range V(4) {
		p("MOVW.P 4(R4), R8")
		if ch == 3 {
			p("ADD R8<<1, R8")
			p("ADD R8, R2, R9")
			p("ADD R8, R3, R10")
		} else {
			p("ADD R8<<2, R2, R9")
			p("ADD R8<<2, R3, R10")
		}
		p("MOVD R7, R11")
		mov(sums+px, begin)
		mov(sums+4+px, begin)
		label("block" + string('0'+rune(px)))
		ldrPost(4, 0, w, 16)
		for r := range V(2) {
			ldrPost(4, 1+r, rows[r], 4*ch)
		}
		for tap := range V(4) {
			for r := range V(2) {
				tbl(2+2*tap+r+1, 1+r, 1, parts+tap)
			}
		}
		for tap := range V(4) {
			for r := range V(2) {
				mlaBy((sums + 4*r + px).s4(), (2 + 2*tap + r + 1).s4(), V(0).s(int(tap)))
			}
		}
		p("SUBS $1, R11")
		p("BNE block%d", px)
	}
	for r := range V(2) {
		clip(sums + 4*r)
	}
	for r := range V(2) {
		s := sums + 4*r
		if ch == 4 {
			strPost(4, s, dst0+R(r), 16)
			continue
		}
		tbl(s, s, 1, thin)
		strPost(3, s, dst0+R(r), 8)
		st1Lane(s.s(2), dst0+R(r))
		p("ADD $4, R%d", r)
	}
	p("SUBS $4, R6")
	p("BNE loop")
	p("RET")
}

// resampleGray makes four rows.
func resampleGray() {
	text("resampleGrayNEON", 48, "func resampleGrayNEON(dst, src *[4]*byte, start, w *int32, n, blocks int)")
	const w = R(5)
	p("MOVD dst+0(FP), R8")
	p("LDP 0(R8), (R0, R1)")
	p("LDP 16(R8), (R2, R3)")
	p("MOVD src+8(FP), R8")
	p("LDP 0(R8), (R12, R13)")
	p("LDP 16(R8), (R14, R15)")
	p("MOVD start+16(FP), R4")
	p("MOVD w+24(FP), R5")
	p("MOVD n+32(FP), R6")
	p("MOVD blocks+40(FP), R7")
	p("MOVD $fours<>(SB), R8")
	ldr(4, parts, 8, 0)
	const turn = V(27)
	p("MOVD $turn<>(SB), R8")
	ldr(4, turn, 8, 0)
	half(begin)
	rows := [4]R{9, 10, 16, 17}
	label("loop")
	back([]string{"R0", "R1", "R2", "R3"}, 1)
	for px := range V(4) {
		p("MOVW.P 4(R4), R8")
		for r, at := range rows {
			p("ADD R8, R%d, R%d", 12+r, at)
		}
		p("MOVD R7, R11")
		const a = V(20)
		for r := range V(4) {
			movi((a + r).b16(), 0)
		}
		label("block" + string('0'+rune(px)))
		ldrPost(4, 0, w, 16)
		for r := range V(4) {
			ldrPost(2, 1+r, rows[r], 4)
		}
		for r := range V(4) {
			tbl(1+r, 1+r, 1, parts)
		}
		for r := range V(4) {
			mla((a + r).s4(), (1 + r).s4(), V(0).s4())
		}
		p("SUBS $1, R11")
		p("BNE block%d", px)
		addp(a.s4(), a.s4(), (a + 1).s4())
		addp((a + 2).s4(), (a + 2).s4(), (a + 3).s4())
		addp((sums + px).s4(), a.s4(), (a + 2).s4())
		add((sums + px).s4(), (sums + px).s4(), begin.s4())
	}
	clip(sums)
	tbl(sums, sums, 1, turn)
	for r := range 4 {
		st1Lane(sums.s(r), R(r))
		p("ADD $4, R%d", r)
	}
	p("SUBS $4, R6")
	p("BNE loop")
	p("RET")
}

// resampleColumns makes 32 bytes at a time; the last 32 begin earlier where the
// length is no multiple.
func resampleColumns() {
	text("resampleColumnsNEON", 40, "func resampleColumnsNEON(dst, src *byte, line int, w *int32, rows int)")
	const dst, at, w = R(0), R(5), R(6)
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD line+16(FP), R2")
	p("MOVD w+24(FP), R3")
	p("MOVD rows+32(FP), R4")
	p("MOVD $fours<>(SB), R8")
	ld1(4, parts.b16(), 8, 0)
	half(begin)
	p("MOVD R2, R9") // bytes left
	label("loop")
	p("CMP $32, R9")
	p("BGE whole")
	p("SUB $32, R9, R10")
	p("ADD R10, R0")
	p("ADD R10, R1")
	p("MOVD $32, R9")
	label("whole")
	p("MOVD R1, R5")
	p("MOVD R3, R6")
	p("MOVD R4, R7")
	for i := range V(8) {
		mov(sums+i, begin)
	}
	label("row")
	const weight, bytes = V(0), V(1)
	ld1r(weight.s4(), w)
	ld1(2, bytes.b16(), at, 0)
	p("ADD $4, R6")
	p("ADD R2, R5")
	for i := range V(8) {
		tbl(3+i, bytes+i/4, 1, parts+i%4)
	}
	for i := range V(8) {
		mla((sums + i).s4(), (3 + i).s4(), weight.s4())
	}
	p("SUBS $1, R7")
	p("BNE row")
	clip(sums)
	clip(sums + 4)
	str(4, sums, dst, 0)
	str(4, sums+4, dst, 16)
	p("ADD $32, R0")
	p("ADD $32, R1")
	p("SUBS $32, R9")
	p("BNE loop")
	p("RET")
}
