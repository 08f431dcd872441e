package main

import (
	"fmt"
	"strings"
)

// resample writes the passes of resample.go of package kernel: 32-bit products
// of bytes and weights, four sums per register. Weights come in blocks of four.
func resample() {
	// fours spreads byte 4*part+i of 16 to lane i, for four parts. threes does
	// the same for pixels of 3 bytes. thin packs the first 3 bytes of 4 pixels.
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

	for _, ch := range []int{3, 4} {
		resamplePixels(ch, 1)
		resamplePixels(ch, 2)
	}
	resampleGray()
	resampleColumns()
}

// clip converts the sums in four registers from a on to bytes in a. Two steps
// shift by 22 bits in total, and both clamp.
func clip(a V) {
	sqshrun(a.h4(), a.s4(), 16)
	sqshrun((a + 2).h4(), (a + 2).s4(), 16)
	sqshrun(a.h8(), (a + 1).s4(), 16)
	sqshrun((a + 2).h8(), (a + 3).s4(), 16)
	uqshrn(a.b8(), a.h8(), 6)
	uqshrn(a.b16(), (a + 2).h8(), 6)
}

// half sets v to the initial value of the sums: a half of 1<<22.
func half(v V) {
	movi(v.b16(), 0x20)
	ushr(v.s4(), v.s4(), 29)
	shl(v.s4(), v.s4(), 21)
}

const sums, parts, begin = V(16), V(28), V(26)

// back prepares the last four outputs if their number is not a multiple of
// four. Some outputs are then computed twice. R6 is the number of remaining
// outputs, R7 the number of blocks per output.
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

// resamplePixels resamples one or two rows of pixels of ch bytes. parts counts
// half blocks; the last block need not be read to its end.
func resamplePixels(ch, count int) {
	name := fmt.Sprintf("resample%sx%dNEON", map[int]string{3: "RGB", 4: "RGBA"}[ch], count)
	args := []string{"dst", "src"}
	if count == 2 {
		args = []string{"dst0", "dst1", "src0", "src1"}
	}
	text(name, 8*len(args)+40, "func "+name+"("+strings.Join(args, ", ")+" *byte, start, w *int32, n, blocks, parts int)")
	const dst0, w = R(0), R(5)
	rows, last := [2]R{9, 10}, V(count)
	dsts := []string{"R0", "R1"}[:count]
	for i, arg := range args {
		p("MOVD %s+%d(FP), R%d", arg, 8*i, i/count*2+i%count)
	}
	for i, arg := range []string{"start", "w", "n", "blocks", "parts"} {
		p("MOVD %s+%d(FP), R%d", arg, 8*(len(args)+i), []int{4, 5, 6, 7, 13}[i])
	}
	p("LSR $1, R13, R12")
	p("AND $1, R13")
	const thin = V(27)
	if ch == 3 {
		p("MOVD $threes<>(SB), R8")
		ldr(4, thin, 8, 64)
	} else {
		p("MOVD $fours<>(SB), R8")
	}
	ld1(4, parts.b16(), 8, 0)
	half(begin)
	// taps adds n products of every row to pixel px.
	taps := func(px, n V) {
		for r := range last {
			ldrPost(4, 1+r, rows[r], 4*ch)
		}
		for tap := range n {
			for r := range last {
				tbl(3+2*tap+r, 1+r, 1, parts+tap)
			}
		}
		for tap := range n {
			for r := range last {
				mlaBy((sums + 4*r + px).s4(), (3 + 2*tap + r).s4(), V(0).s(int(tap)))
			}
		}
	}
	label("loop")
	back(dsts, ch)
	for px := range V(4) {
		p("MOVW.P 4(R4), R8")
		if ch == 3 {
			p("ADD R8<<1, R8")
		} else {
			p("LSL $2, R8")
		}
		for r := range last {
			p("ADD R8, R%d, R%d", 2+r, rows[r])
			mov(sums+4*r+px, begin)
		}
		p("CBZ R12, part%d", px)
		p("MOVD R12, R11")
		label(fmt.Sprint("block", px))
		ldrPost(4, 0, w, 16)
		taps(px, 4)
		p("SUBS $1, R11")
		p("BNE block%d", px)
		label(fmt.Sprint("part", px))
		p("CBZ R13, done%d", px)
		ldrPost(3, 0, w, 16)
		taps(px, 2)
		label(fmt.Sprint("done", px))
	}
	for r := range last {
		clip(sums + 4*r)
	}
	for r := range last {
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

// resampleGray resamples four rows.
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
		label(fmt.Sprint("block", px))
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

// resampleColumns processes 32 bytes at a time. If the length is not a multiple
// of 32, the last 32 bytes overlap the previous ones.
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
