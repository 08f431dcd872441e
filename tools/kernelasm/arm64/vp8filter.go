package main

// The lines that vp8Filter keeps: 20 of luma and 12 of chroma, 16 samples each.
const (
	vp8Lines       = 32
	vp8ChromaLines = 20
)

// vp8Filter writes the loop filter of a macroblock. It filters 16 positions of
// an edge at a time: those of luma, or 8 of each chroma plane. For vertical
// edges it copies columns to lines of local memory.
func vp8Filter() {
	textFrame("vp8FilterSIMD", 16*vp8Lines, 56, "func vp8FilterSIMD(y *byte, stride int, u, v *byte, strideC int, limits *[4]uint8, edges int)")
	const at, to, second = R(8), R(10), R(11)
	const stride, strideC = R(1), R(4)
	start := func() {
		p("MOVD y+0(FP), R0")
		p("MOVD u+16(FP), R2")
		p("MOVD v+24(FP), R3")
	}
	start()
	p("MOVD stride+8(FP), R1")
	p("MOVD strideC+32(FP), R4")
	p("MOVD limits+40(FP), R5")
	p("MOVD edges+48(FP), R6")
	p("MOVD $lines-%d(SP), R9", 16*vp8Lines)

	p("TST $5, R6")
	p("BEQ rows")
	vp8LumaColumns()
	p("SUB $4, R2, R8")
	p("SUB $4, R3, R11")
	for i := range V(8) {
		ld1Step(i.b16(), at, strideC)
		ld1Step((8 + i).b16(), second, strideC)
	}
	vp8TurnBytes()
	for i := V(0); i < 12; i += 4 {
		st1(4, i.b16(), to, 64)
	}

	vp8EdgeConstants()
	p("TBZ $0, R6, columns")
	p("MOVD R9, R8") // four lines before the edge
	p("MOVD $2, R7")
	label("left")
	vp8Edge(true, inLines)
	p("ADD $%d, R9, R8", 16*vp8ChromaLines)
	p("SUBS $1, R7")
	p("BNE left")
	label("columns")
	p("TBZ $2, R6, filtered")
	p("ADD $64, R9, R8")
	p("MOVD $4, R7")
	label("column")
	vp8Edge(false, inLines)
	p("ADD $64, R8")
	p("CMP $2, R7")
	p("BNE luma")
	p("ADD $%d, R9, R8", 16*(vp8ChromaLines+4))
	label("luma")
	p("SUBS $1, R7")
	p("BNE column")

	label("filtered")
	vp8LumaBack()
	for i := V(0); i < 12; i += 4 {
		ld1(4, i.b16(), to, 64)
	}
	vp8TurnBytes()
	p("SUB $4, R2, R8")
	p("SUB $4, R3, R11")
	for i := range V(8) {
		for _, plane := range []struct {
			v V
			r R
		}{{i, at}, {8 + i, second}} {
			str(3, plane.v, plane.r, 0)
			p("ADD $8, R%d, R12", plane.r)
			st1Lane(plane.v.s(2), 12)
			p("ADD R4, R%d", plane.r)
		}
	}

	label("rows")
	p("TST $6, R6")
	p("BEQ done")
	vp8EdgeConstants()
	luma := edgeMemory{
		load: func(v V, n int) {
			p("MOVD R0, R8")
			for i := range n {
				ld1Step((v + V(i)).b16(), at, stride)
			}
		},
		store: func(v V, from, n int) {
			p("ADD R1<<1, R0, R8")
			if from%2 == 1 {
				p("SUB R1, R8")
			}
			for i := range n {
				st1Step((v + V(i)).b16(), at, stride)
			}
		},
	}
	chroma := edgeMemory{
		load: func(v V, n int) {
			p("MOVD R2, R8")
			p("MOVD R3, R10")
			for i := range V(n) {
				ld1Step((v + i).b8(), at, strideC)
				ld1LaneStep((v + i).d(1), to, strideC)
			}
		},
		store: func(v V, from, n int) {
			p("ADD R4<<1, R2, R8")
			p("ADD R4<<1, R3, R10")
			if from%2 == 1 {
				p("SUB R4, R8")
				p("SUB R4, R10")
			}
			for i := range V(n) {
				st1Step((v + i).b8(), at, strideC)
				st1LaneStep((v + i).d(1), to, strideC)
			}
		},
	}
	p("TBZ $1, R6, inner")
	p("SUB R1<<2, R0")
	p("SUB R4<<2, R2")
	p("SUB R4<<2, R3")
	vp8Edge(true, luma)
	vp8Edge(true, chroma)
	start()
	label("inner")
	p("TBZ $2, R6, done")
	p("MOVD $3, R7")
	label("row")
	vp8Edge(false, luma)
	p("ADD R1<<2, R0")
	p("SUBS $1, R7")
	p("BNE row")
	vp8Edge(false, chroma)
	label("done")
	p("RET")
}

// vp8TurnBytes transposes V0 to V15.
func vp8TurnBytes() {
	for round := range V(4) {
		in, out := 16*(round%2), 16-16*(round%2)
		for i := range V(8) {
			zip1((out + 2*i).b16(), (in + i).b16(), (in + 8 + i).b16())
			zip2((out + 2*i + 1).b16(), (in + i).b16(), (in + 8 + i).b16())
		}
	}
}

// vp8LumaRest accesses the columns 12 to 15 of luma: four rows a register.
func vp8LumaRest(access func(n lane, at, step R)) {
	p("ADD $12, R0, R8")
	for row := range 16 {
		access(V(row/4).s(row%4), 8, 1)
	}
}

// vp8LumaColumns copies the columns of luma from -4 on to the lines at R9, and
// sets R10 to their end. R0 is the first sample, R1 the stride.
func vp8LumaColumns() {
	p("SUB $4, R0, R8")
	for i := range V(16) {
		ld1Step(i.b16(), 8, 1)
	}
	vp8TurnBytes()
	p("MOVD R9, R10")
	for i := V(0); i < 16; i += 4 {
		st1(4, i.b16(), 10, 64)
	}
	vp8LumaRest(ld1LaneStep)
	for i := range V(2) {
		uzp1((4 + i).b16(), (2 * i).b16(), (2*i + 1).b16())
		uzp2((6 + i).b16(), (2 * i).b16(), (2*i + 1).b16())
	}
	uzp1(V(16).b16(), V(4).b16(), V(5).b16())
	uzp1(V(17).b16(), V(6).b16(), V(7).b16())
	uzp2(V(18).b16(), V(4).b16(), V(5).b16())
	uzp2(V(19).b16(), V(6).b16(), V(7).b16())
	st1(4, V(16).b16(), 10, 64)
}

// vp8LumaBack is the inverse of vp8LumaColumns.
func vp8LumaBack() {
	p("MOVD R9, R10")
	for i := V(0); i < 16; i += 4 {
		ld1(4, i.b16(), 10, 64)
	}
	vp8TurnBytes()
	p("SUB $4, R0, R8")
	for i := range V(16) {
		st1Step(i.b16(), 8, 1)
	}
	ld1(4, V(16).b16(), 10, 64)
	for i := range V(2) {
		zip1((4 + i).b16(), (16 + i).b16(), (18 + i).b16())
		zip2((6 + i).b16(), (16 + i).b16(), (18 + i).b16())
	}
	for i := range V(2) {
		zip1((2 * i).b16(), (4 + 2*i).b16(), (5 + 2*i).b16())
		zip2((2*i + 1).b16(), (4 + 2*i).b16(), (5 + 2*i).b16())
	}
	vp8LumaRest(st1LaneStep)
}

// edgeMemory accesses the lines of samples across an edge, from the fourth one
// before it on.
type edgeMemory struct {
	load  func(v V, n int)
	store func(v V, from, n int) // n of them, from that line on
}

// inLines are lines of local memory from R8 on.
var inLines = edgeMemory{
	load: func(v V, n int) {
		for i := range n {
			ldr(4, v+V(i), 8, 16*i)
		}
	},
	store: func(v V, from, n int) {
		for i := range n {
			str(4, v+V(i), 8, 16*(from+i))
		}
	},
}

// The constants of vp8Edge. limits has those of outer and inner edges, the
// interior and the variance, four registers.
const vp8Sign, vp8Limits, vp8Three, vp8Four, vp8Nine, vp8Round = V(0), V(1), V(5), V(6), V(7), V(8)

// vp8EdgeConstants sets them.
func vp8EdgeConstants() {
	movi(vp8Sign.b16(), 0x80)
	movi(vp8Three.b16(), 3)
	movi(vp8Four.b16(), 4)
	movi(vp8Nine.b16(), 9)
	movi(vp8Round.b16(), 63)
	ushr(vp8Round.h8(), vp8Round.h8(), 8)
	for i := range V(4) {
		if i == 0 {
			p("MOVD R5, R12")
		} else {
			p("ADD $1, R12")
		}
		ld1r((vp8Limits + i).b16(), 12)
	}
}

// vp8Edge filters 16 positions of an edge.
func vp8Edge(outer bool, mem edgeMemory) {
	const p3, p2, p1, p0, q0, q1, q2, q3 = V(16), V(17), V(18), V(19), V(20), V(21), V(22), V(23)
	const most, inner, t, u, high, mask, a, step = V(24), V(25), V(26), V(27), V(28), V(29), V(30), V(31)
	b := func(v V) vec { return v.b16() }
	mem.load(p3, 8)
	uabd(b(most), b(p3), b(p2))
	uabd(b(inner), b(p1), b(p0))
	uabd(b(t), b(p2), b(p1))
	uabd(b(u), b(q1), b(q0))
	umax(b(most), b(most), b(t))
	uabd(b(t), b(q2), b(q1))
	umax(b(inner), b(inner), b(u))
	uabd(b(u), b(q3), b(q2))
	umax(b(most), b(most), b(t))
	umax(b(most), b(most), b(u))
	umax(b(most), b(most), b(inner))
	uabd(b(t), b(p0), b(q0))
	uabd(b(u), b(p1), b(q1))
	uqadd(b(t), b(t), b(t))
	ushr(b(u), b(u), 1)
	uqadd(b(t), b(t), b(u))
	cmhi(b(high), b(inner), b(vp8Limits+3))
	cmhs(b(mask), b(vp8Limits+2), b(most))
	which := vp8Limits
	if !outer {
		which++
	}
	cmhs(b(t), b(which), b(t))
	and(b(mask), b(mask), b(t))
	signed := []V{p1, p0, q0, q1}
	if outer {
		signed = append(signed, p2, q2)
	}
	for _, v := range signed {
		eor(b(v), b(v), b(vp8Sign))
	}
	sqsub(b(a), b(p1), b(q1))
	if !outer {
		and(b(a), b(a), b(high))
	}
	sqsub(b(step), b(q0), b(p0))
	for range 3 {
		sqadd(b(a), b(a), b(step))
	}
	and(b(a), b(a), b(mask))
	change := a
	if outer {
		change = step
		and(b(change), b(a), b(high))
		bic(b(a), b(a), b(high))
	}
	sqadd(b(t), b(change), b(vp8Four))
	sqadd(b(u), b(change), b(vp8Three))
	sshr(b(t), b(t), 3)
	sshr(b(u), b(u), 3)
	sqsub(b(q0), b(q0), b(t))
	sqadd(b(p0), b(p0), b(u))
	if !outer {
		srshr(b(t), b(t), 1)
		bic(b(t), b(t), b(high))
		sqsub(b(q1), b(q1), b(t))
		sqadd(b(p1), b(p1), b(t))
	} else {
		const low, upper, sumLow, sumUpper = V(24), V(25), V(26), V(27)
		smull(low.h8(), a.b8(), vp8Nine.b8())
		smull(upper.h8(), a.b16(), vp8Nine.b16())
		add(sumLow.h8(), low.h8(), vp8Round.h8())
		add(sumUpper.h8(), upper.h8(), vp8Round.h8())
		for i, pair := range [3][2]V{{p2, q2}, {p1, q1}, {p0, q0}} {
			if i > 0 {
				add(sumLow.h8(), sumLow.h8(), low.h8())
				add(sumUpper.h8(), sumUpper.h8(), upper.h8())
			}
			sqshrn(high.b8(), sumLow.h8(), 7)
			sqshrn(high.b16(), sumUpper.h8(), 7)
			sqadd(b(pair[0]), b(pair[0]), b(high))
			sqsub(b(pair[1]), b(pair[1]), b(high))
		}
	}
	for _, v := range signed {
		eor(b(v), b(v), b(vp8Sign))
	}
	if outer {
		mem.store(p2, 1, 6)
	} else {
		mem.store(p1, 2, 4)
	}
}
