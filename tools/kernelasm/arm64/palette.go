package main

// palette looks up 8 pixels at a time in general registers.
func palette() {
	text("paletteNEON", 32, "func paletteNEON(dst, src *byte, n int, table *[256][4]uint8)")
	p("MOVD dst+0(FP), R0")
	p("MOVD src+8(FP), R1")
	p("MOVD n+16(FP), R2")
	p("MOVD table+24(FP), R3")
	label("loop")
	p("MOVD.P 8(R1), R4")
	for half := range 2 {
		for i := range 4 {
			at := 4*half + i
			switch at {
			case 0:
				p("MOVBU R4, R8")
			case 7:
				p("LSR $56, R4, R11")
			default:
				p("UBFX $%d, R4, $8, R%d", 8*at, 8+i)
			}
		}
		for i := range 4 {
			p("MOVWU (R3)(R%d<<2), R%d", 8+i, 8+i)
		}
		// Four entries make three words.
		p("ORR R9<<24, R8")
		p("ORR R10<<48, R8")
		p("MOVD R8, %d(R0)", 12*half)
		p("LSR $16, R10")
		p("ORR R11<<8, R10")
		p("MOVW R10, %d(R0)", 12*half+8)
	}
	p("ADD $24, R0")
	p("SUBS $8, R2")
	p("BNE loop")
	p("RET")
}
