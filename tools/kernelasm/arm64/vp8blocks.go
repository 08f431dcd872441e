package main

// vp8Blocks writes VP8PredictBlocks. Each block waits for the one before it, so
// it has no branch, and few instructions lead from the samples to its left to
// the result. All modes are computed: means of two and of three neighbours of
// the edge, the mean of all, and TM_PRED. A shuffle selects those of the mode.
func vp8Blocks() {
	// The shuffles' source is the corner and 15 samples above, and then the
	// block to the left, whose last column are the bytes 3, 7, 11 and 15.
	const no, left = -1, 16
	const first, last = left + 3, left + 15
	// The edge, from the lowest sample at the left to the last one above. The
	// first and the last are there twice.
	const corner, above = 5, 6
	shuffles := []int{last, last, left + 11, left + 7, first, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, no}
	// The eight samples of the mean.
	shuffles = append(shuffles, first, left+7, left+11, last, 1, 2, 3, 4, no, no, no, no, no, no, no, no)
	for i := range 16 { // those of TM_PRED: to the left,
		shuffles = append(shuffles, first+i/4*4)
	}
	for i := range 16 { // above,
		shuffles = append(shuffles, 1+i%4)
	}
	for range 16 { // and the corner
		shuffles = append(shuffles, 0)
	}
	// For each mode the choice among the means of three, those of two, the mean
	// of all, and TM_PRED.
	const of3, of2, ofAll, ofTrue = 0, 16, 32, 48
	sample := func(mode, x, y int) int {
		// pick chooses among the means along the edge, which begins with a mean
		// of two.
		pick := func(i int) int {
			if i%2 == 0 {
				return of2 + i/2
			}
			return of3 + i/2
		}
		switch mode {
		case 0: // the mean
			return ofAll
		case 1: // TM_PRED
			return ofTrue + 4*y + x
		case 2: // vertical
			return of3 + corner + x
		case 3: // horizontal
			return of3 + 3 - y
		case 4: // right, down
			return of3 + corner - 1 + x - y
		case 5: // vertical, right
			switch {
			case x == 0 && y >= 2:
				return of3 + corner - y
			case y%2 == 0:
				return of2 + corner + x - y/2
			}
			return of3 + corner - 1 + x - y/2
		case 6: // left, down
			return of3 + above + x + y
		case 7: // vertical, left
			switch {
			case x == 3 && y >= 2:
				return of3 + above + y + 2
			case y%2 == 0:
				return of2 + above + x + y/2
			}
			return of3 + above + x + y/2
		case 8: // horizontal, down
			if y == 0 && x >= 2 {
				return of3 + corner - 2 + x
			}
			return pick(2 + 2*(3-y) + x)
		}
		// horizontal, up
		if i := x + 2*y; i < 6 {
			return []int{of2 + 3, of3 + 2, of2 + 2, of3 + 1, of2 + 1, of3}[i]
		}
		return of2
	}
	var modes []int
	for mode := range 10 {
		for i := range 16 {
			modes = append(modes, sample(mode, i%4, i/4))
		}
	}
	shuffle("vp8Edges", shuffles...)
	shuffle("vp8Modes", modes...)

	text("vp8PredictBlocksSIMD", 32, "func vp8PredictBlocksSIMD(dst *byte, stride int, modes *[16]uint8, coef *[16][16]int16)")
	const dst, stride, coef, top, right, at, entry = R(0), R(1), R(3), R(4), R(5), R(8), R(10)
	p("MOVD dst+0(FP), R0")
	p("MOVD stride+8(FP), R1")
	p("MOVD modes+16(FP), R2")
	p("MOVD coef+24(FP), R3")
	p("SUB R1, R0, R4")
	p("ADD $16, R4, R5")
	const factors, four = V(0), V(1)
	const edgeOrder, meanOrder, leftOrder, aboveOrder, cornerOrder = V(2), V(3), V(4), V(6), V(7)
	vp8Constants(factors, four)
	p("MOVD $vp8Edges<>(SB), R9")
	ld1(3, edgeOrder.b16(), 9, 48)
	ld1(2, aboveOrder.b16(), 9, 0)
	p("MOVD $vp8Modes<>(SB), R9")
	// start is the block to the left of the row, whose last byte is the corner
	// of the next row; samples are those above the row.
	const start, samples = V(5), V(30)
	ldr(4, samples, top, 0)
	p("SUB $1, R4")
	ld1r(start.b16(), top)
	p("MOVD $4, R6")

	label("row")
	const residual, v, t = V(8), V(16), V(20)
	for pair := range V(2) {
		vp8Inverse(v, t, factors, four, coef)
		r := residual + 4*pair
		for i := range V(2) { // of each block two rows, then the other two
			zip1((r + i).d2(), (v + 2*i).d2(), (v + 2*i + 1).d2())
			zip2((r + 2 + i).d2(), (v + 2*i).d2(), (v + 2*i + 1).d2())
		}
	}
	const around, behind = V(16), V(17)
	ext(around, start, samples, 15)
	ldr(2, behind, right, 0)
	ext(behind, samples, behind, 15)
	p("SUB $4, R0, R8")
	// Each block's samples above are before those to its left.
	blocks := [4]V{27, 29, 31, 25}
	const leftOf = V(25)
	for y := range 4 {
		ld1LaneStep(leftOf.s(y), at, stride)
	}
	mov(start, leftOf)
	from := leftOf
	for x, out := range blocks {
		here := from - 1
		if x == 0 {
			mov(here, around)
		} else {
			ext(here, around, behind, 4*x)
		}
		const edge, next, mean3, mean2, all, motion = V(18), V(19), V(20), V(21), V(22), V(23)
		tbl(edge, here, 2, edgeOrder)
		tbl(all, here, 2, meanOrder)
		tbl(mean3, here, 2, aboveOrder)
		tbl(mean2, here, 2, cornerOrder)
		tbl(motion, here, 2, leftOrder)
		usubl(mean2.h8(), mean3.b8(), mean2.b8())
		uaddw(mean3.h8(), mean2.h8(), motion.b8())
		uaddw(mean2.h8(), mean2.h8(), motion.b16())
		sqxtun(motion.b8(), mean3.h8())
		sqxtun(motion.b16(), mean2.h8())
		uaddlv(all, all.b8())
		urshr(all.h4(), all.h4(), 3)
		ext(next, edge, edge, 1)
		ext(mean3, edge, edge, 2)
		urhadd(mean2.b16(), edge.b16(), next.b16())
		uhadd(mean3.b16(), edge.b16(), mean3.b16())
		urhadd(mean3.b16(), next.b16(), mean3.b16())
		p("MOVBU %d(R2), R10", x)
		p("ADD R10<<4, R9, R10")
		ldr(4, edge, entry, 0)
		tbl(edge, mean3, 4, edge)
		r := residual + V(2*x)
		uaddw(r.h8(), r.h8(), edge.b8())
		uaddw((r + 1).h8(), (r + 1).h8(), edge.b16())
		sqxtun(out.b8(), r.h8())
		sqxtun(out.b16(), (r + 1).h8())
		from = out
	}
	zip1(V(16).s4(), blocks[0].s4(), blocks[1].s4())
	zip1(V(17).s4(), blocks[2].s4(), blocks[3].s4())
	zip2(V(18).s4(), blocks[0].s4(), blocks[1].s4())
	zip2(V(19).s4(), blocks[2].s4(), blocks[3].s4())
	for y := range V(4) {
		zip, a := zip1, V(16)+y/2*2
		if y%2 == 1 {
			zip = zip2
		}
		o := V(20) + y
		if y == 3 {
			o = samples
		}
		zip(o.d2(), a.d2(), (a + 1).d2())
		st1Step(o.b16(), dst, stride)
	}
	p("ADD $4, R2")
	p("SUBS $1, R6")
	p("BNE row")
	p("RET")
}
