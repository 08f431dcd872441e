package main

// vp8FilterSimple writes the simple loop filter, of luma alone.
func vp8FilterSimple() {
	textFrame("vp8FilterSimpleNEON", 16*vp8ChromaLines, 32, "func vp8FilterSimpleNEON(y *byte, stride int, limits *[2]uint8, edges int)")
	const at, limits, inner, stride = R(8), R(5), R(12), R(1)
	const sign, outerLimit, innerLimit, three, four = V(0), V(1), V(2), V(5), V(6)
	b := func(v V) vec { return v.b16() }
	constants := func() {
		movi(b(sign), 0x80)
		movi(b(three), 3)
		movi(b(four), 4)
		ld1r(b(outerLimit), limits)
		p("ADD $1, R5, R12")
		ld1r(b(innerLimit), inner)
	}
	// edge filters 16 positions. The memory starts two lines before the edge.
	edge := func(limit V, mem edgeMemory) {
		const p1, p0, q0, q1, t, u, mask, a = V(16), V(17), V(18), V(19), V(20), V(21), V(22), V(23)
		mem.load(p1, 4)
		uabd(b(t), b(p0), b(q0))
		uabd(b(u), b(p1), b(q1))
		uqadd(b(t), b(t), b(t))
		ushr(b(u), b(u), 1)
		uqadd(b(t), b(t), b(u))
		cmhs(b(mask), b(limit), b(t))
		for i := range V(4) {
			eor(b(p1+i), b(p1+i), b(sign))
		}
		sqsub(b(a), b(p1), b(q1))
		sqsub(b(t), b(q0), b(p0))
		for range 3 {
			sqadd(b(a), b(a), b(t))
		}
		and(b(a), b(a), b(mask))
		sqadd(b(t), b(a), b(four))
		sqadd(b(u), b(a), b(three))
		sshr(b(t), b(t), 3)
		sshr(b(u), b(u), 3)
		sqsub(b(q0), b(q0), b(t))
		sqadd(b(p0), b(p0), b(u))
		eor(b(q0), b(q0), b(sign))
		eor(b(p0), b(p0), b(sign))
		mem.store(p0, 1, 2)
	}
	p("MOVD y+0(FP), R0")
	p("MOVD stride+8(FP), R1")
	p("MOVD limits+16(FP), R5")
	p("MOVD edges+24(FP), R6")
	p("MOVD $lines-%d(SP), R9", 16*vp8ChromaLines)
	p("TST $5, R6")
	p("BEQ rows")
	vp8LumaColumns()
	constants()
	p("TBZ $0, R6, columns")
	p("ADD $32, R9, R8")
	edge(outerLimit, inLines)
	label("columns")
	p("TBZ $2, R6, filtered")
	p("ADD $96, R9, R8")
	p("MOVD $3, R7")
	label("column")
	edge(innerLimit, inLines)
	p("ADD $64, R8")
	p("SUBS $1, R7")
	p("BNE column")
	label("filtered")
	vp8LumaBack()

	label("rows")
	constants()
	p("SUB R1<<1, R0")
	luma := edgeMemory{
		load: func(v V, n int) {
			p("MOVD R0, R8")
			for i := range V(n) {
				ld1Step(b(v+i), at, stride)
			}
		},
		store: func(v V, _, n int) {
			p("ADD R1, R0, R8")
			for i := range V(n) {
				st1Step(b(v+i), at, stride)
			}
		},
	}
	p("TBZ $1, R6, inner")
	edge(outerLimit, luma)
	label("inner")
	p("TBZ $2, R6, done")
	p("MOVD $3, R7")
	label("row")
	p("ADD R1<<2, R0")
	edge(innerLimit, luma)
	p("SUBS $1, R7")
	p("BNE row")
	label("done")
	p("RET")
}
